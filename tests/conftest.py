"""Tests in a browser run where there is one; Ctrl-C reaches even a run in the background, which its
shell may have told to ignore it."""

import shutil
import signal

import pytest

from quadsweep.cli import main

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")

signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = [] if CHROMIUM and DRIVER else ["report/browser"]


def pytest_report_header():
    found = CHROMIUM if CHROMIUM and DRIVER else "none found, tests/report/browser is left out"
    return f"browser: {found}"


@pytest.fixture
def run(capsys):
    """A command of quadsweep: its exit code, what it printed, what it said of errors."""

    def run(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run
