"""What is not installed is named in one sentence; what is not needed is not imported."""

import subprocess
import sys

import pytest

import quadsweep as qs
from quadsweep.cli import main

STARS = qs.datasets.load("stars-cyg")


@pytest.fixture
def without(monkeypatch):
    def hide(*names):
        for loaded in list(sys.modules):
            if loaded.split(".")[0] in names:
                monkeypatch.delitem(sys.modules, loaded)
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


def test_importing_the_package_brings_numpy_and_no_other_library():
    code = "from quadsweep import *; import sys; print(*{m.split('.')[0] for m in sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = ["scipy", "typer", "rich", "matplotlib", "pandas", "polars", "narwhals", "sklearn"]
    assert "numpy" in found.stdout.split()
    assert not set(others) & set(found.stdout.split())


def test_a_picture_without_matplotlib_says_what_to_install(without):
    without("matplotlib")
    with pytest.raises(ModuleNotFoundError, match=r"^drawing needs matplotlib: pip install matpl"):
        qs.solve(STARS.x, STARS.y, drop=4).plot()


def test_the_command_line_says_it_in_one_line(without, capsys):
    without("matplotlib")
    assert main(["solve", "stars-cyg", "--plot", "stars.png"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: --plot needs matplotlib: pip install matplotlib (extra: quadsweep[plot])\n"
    )


def test_a_frame_without_pandas_and_polars_says_what_to_install(without):
    without("pandas", "polars")
    with pytest.raises(ModuleNotFoundError, match="to_frame needs pandas or polars: pip install"):
        qs.path(STARS.x, STARS.y, drop=2).to_frame()


def test_the_estimators_without_scikit_learn_say_what_to_install(without, monkeypatch):
    without("sklearn")
    for module in ("sklearn", "estimators.trimmed", "estimators.covariance"):
        monkeypatch.delitem(sys.modules, f"quadsweep.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError, match="needs scikit-learn: pip install scikit-learn"):
        import quadsweep.sklearn  # noqa: F401
