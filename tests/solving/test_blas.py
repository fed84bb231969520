"""Small matrices are multiplied by one thread, and the library has its threads again after it."""

from importlib import import_module

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import blas

threadpoolctl = pytest.importorskip("threadpoolctl")


def threads() -> set[int]:
    return {
        library["num_threads"]
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    }


@pytest.fixture
def seen(monkeypatch):
    """Two threads before, and how many there are while rows are read into a search or an audit."""
    looked = []
    for package, name in (
        ("solving.methods.regression.certified", "search"),
        ("solving.methods.regression.concentrate", "_Walk"),
        ("auditing.audit", "_search"),
    ):
        module = import_module(f"quadsweep.{package}")
        inner = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, inner=inner, **k: (looked.append(threads()), inner(*a, **k))[1]
        )
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("the library has one thread and no more")
        yield looked
        assert threads() == {2}


def test_searches_and_audits_ask_for_one_thread(seen):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    qs.solve(x, y, drop=2, objective="lts")
    qs.solve(x, y, drop=2, objective="lts", method="concentrate")
    qs.audit(x[:, 0], y, controls=x[:, 1:])
    assert seen == [{1}] * 3


def test_without_the_library_that_knows_how_nothing_is_asked(seen, monkeypatch):
    monkeypatch.setattr(blas, "_libraries", lambda: None)
    with blas.one_thread():
        assert threads() == {2}
