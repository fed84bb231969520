"""An answer is fitted again by a path of its own; where that differs nothing is claimed."""

from dataclasses import replace

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.confirm import find_difference
from quadsweep.solving.methods import METHODS, regression


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (1e9, 1.0), (0.0, 1e-40), (0.0, 1e60)])
def test_answers_agree_with_an_independent_fit(objective, shift, scale):
    rng = np.random.default_rng(3)
    for n in (6, 40):
        x, y = shift + scale * rng.normal(size=(2, n))
        result = qs.solve(x, y if objective != "var" else None, drop=2, objective=objective)
        assert find_difference(result, OBJECTIVES[objective]) == ""
        assert "Fitted again" not in result.message


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_planes_agree_with_an_independent_fit(objective, weighted, intercept):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=30), 1e5 + rng.normal(size=30), rng.normal(size=30)])
    X[:, 2] = X[:, 0] + 1e-9 * X[:, 2]  # nearly collinear
    weights = rng.uniform(1, 9, size=30) if weighted else None
    for columns in (X[:, :2], X):
        result = qs.solve(columns, columns[:, 0] + rng.normal(size=30), drop=2, weights=weights,
                          objective=objective, fit_intercept=intercept, time_limit=5)  # fmt: skip
        assert find_difference(result, OBJECTIVES[objective]) == ""


def fail_in_the_search(monkeypatch, change):
    for methods in (METHODS, regression.METHODS):
        for name, run in methods.items():
            monkeypatch.setitem(methods, name, lambda asked, run=run: change(run(asked)))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("objective", "change", "what"),
    [
        ("r2", lambda o: replace(o, value=o.value + 1e-4, bound=1.0), "R² is"),
        ("r2", lambda o: replace(o, value=o.value - 1e-4), "R² is"),
        ("r2", lambda o: replace(o, bound=o.value - 1e-4), "past the bound"),
        ("lts", lambda o: replace(o, value=0.9 * o.value), "residual sum of squares is"),
        ("lts", lambda o: replace(o, bound=1.1 * o.value), "past the bound"),
    ],
)
def test_a_wrong_answer_of_a_search_is_not_claimed(monkeypatch, objective, change, what, several):
    fail_in_the_search(monkeypatch, change)
    X = np.random.default_rng(5).normal(size=(20, 3))
    x = X[:, :2] if several else X[:, 0]
    result = qs.solve(x, X[:, 0] + X[:, 2], drop=3, objective=objective)
    assert result.status == "heuristic"
    assert not result.success
    assert what in result.message
    assert "nothing is claimed" in result.message


def test_wrong_coefficients_are_not_claimed(monkeypatch):
    X = np.random.default_rng(6).normal(size=(20, 2))
    result = qs.solve(X[:, 0], X[:, 1], drop=3)
    result._plane.coef[0] += 1e-3
    assert find_difference(result, OBJECTIVES["r2"]).startswith("the coefficient of x is")
