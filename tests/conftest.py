"""Tests in a browser run where there is one."""

import shutil

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")

collect_ignore = [] if CHROMIUM and DRIVER else ["browser"]


def pytest_report_header():
    found = CHROMIUM if CHROMIUM and DRIVER else "none found, tests/browser is left out"
    return f"browser: {found}"
