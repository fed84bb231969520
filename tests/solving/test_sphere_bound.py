"""The bound by quartics on spheres: never above the sum of any rows at any coefficients there."""

import math
from itertools import combinations

import numpy as np
import pytest

from quadsweep import _core
from quadsweep.solving.methods.problem import Watch
from quadsweep.solving.methods.regression.placement import place_rows
from quadsweep.solving.methods.regression.sphere_bound import Certificate
from quadsweep.solving.methods.regression.sweep import Sweep, SweepGoal
from quadsweep.solving.question import pose

MOST_CHOICES = 300  # of quartics for a shell


def least_gap(rng, objective, n_jobs=1):
    """How far the bound of a shell through the fit of the best subset is below that subset's sum,
    as a share of the sum of squares at the centre, the fit of some other subset."""
    p = int(rng.integers(1, 5))
    n, m = int(rng.integers(p + 8, 16)), int(rng.integers(1, 4))
    X, y = rng.normal(size=(n, p)), rng.normal(size=n) * rng.choice([1, 5])
    if rng.random() < 0.3:
        X[:m] += 4 * rng.normal(size=(m, p))
    if rng.random() < 0.3:
        X, y = np.round(2 * X), np.round(2 * y)
    weights = None if rng.random() < 0.7 else 0.2 + rng.random(n)
    question = pose(X, y, objective=objective, weights=weights, fit_intercept=rng.random() < 0.7)
    problem = question.keeping(None, m).problem
    subsets = list(map(list, combinations(range(n), n - m)))
    rows = place_rows(problem, np.array(subsets[rng.integers(len(subsets))]))
    if rows is None:
        return math.inf
    if objective == "r2":
        rows, _ = rows.with_credit(float(rng.random()))
    fits = [np.linalg.lstsq(rows.z[s], rows.r[s], rcond=None)[0] for s in subsets]
    costs = [(rows.r - rows.z @ b) ** 2 - rows.credit for b in fits]
    sums = np.array([float(cost[s].sum()) for s, cost in zip(subsets, costs, strict=True)])
    best, at = float(sums.min()), float(np.linalg.norm(fits[sums.argmin()]))
    unit = float(np.sort(rows.r**2 + rows.credit)[: n - m].sum())
    if not at > 1e-6:
        return math.inf
    watch = Watch(
        problem.changed(callback=lambda value, bound, nodes, seconds: nodes < MOST_CHOICES)
    )
    inner, outer = at * (1 - 0.1 * rng.random()), at * (1 + 0.1 * rng.random())
    goal = SweepGoal(best + 0.1 * unit, -math.inf, inner, outer, patience=12)
    least = Sweep(rows, n_jobs).least(goal, watch)
    return (best - least) / unit


@pytest.mark.parametrize("objective", ["lts", "r2"])
def test_no_subset_is_below_the_bound_of_its_shell(objective):
    rng = np.random.default_rng(21)
    gaps = np.array([least_gap(rng, objective) for _ in range(10)])
    assert gaps.min() >= -1e-12, gaps
    assert np.sum(gaps < 0.3) >= 3, gaps


def test_two_threads_find_bounds_as_well():
    rng = np.random.default_rng(21)
    gaps = np.array([least_gap(rng, "lts", n_jobs=2) for _ in range(4)])
    assert gaps.min() >= -1e-12, gaps


def test_quartics_that_are_too_low_are_caught(monkeypatch):
    choose = _core.choose_majorants
    monkeypatch.setattr(_core, "choose_majorants", lambda *rows: 0.5 * choose(*rows))
    rng = np.random.default_rng(22)
    assert min(least_gap(rng, "lts") for _ in range(12)) < -1e-6


def test_quartics_are_above_the_excess():
    rng = np.random.default_rng(23)
    for _ in range(100):
        r, t = rng.normal(size=40) * 10.0 ** rng.integers(-2, 3, 40), 0.01 + 4 * rng.random(40)
        reach = rng.random(40) * 10.0 ** rng.integers(-2, 3, 40)
        open_ = np.abs(r) - reach < np.sqrt(t)
        r, t, reach = r[open_], t[open_], reach[open_]
        mean, var = reach * rng.normal(size=len(r)) / 3, reach**2 * rng.random(len(r))
        moments = np.array([mean, mean**2 + var, mean**3 + mean * var, 3 * (mean**2 + var) ** 2])
        c = _core.choose_majorants(r, t, reach, moments)
        for share in np.linspace(-1, 1, 201):
            s = share * reach
            value = c[:, :5] @ [1, 0, 0, 0, 0] + s * (
                c[:, 1] + s * (c[:, 2] + s * (c[:, 3] + s * c[:, 4]))
            )
            assert (value >= np.maximum((r - s) ** 2 - t, 0) - 1e-12 * c[:, 5]).all()


@pytest.mark.parametrize("variables", [2, 3, 6])
def test_forms_keep_their_values(variables):
    rng = np.random.default_rng(24)
    forms = _core.SphereForms(variables)
    matrix = rng.normal(size=(forms.dimension, forms.dimension))
    matrix = matrix + matrix.T
    symmetric, (rest, form) = forms.symmetrise(matrix), forms.project(matrix)
    np.testing.assert_allclose(forms.symmetrise(symmetric), symmetric, atol=1e-12)
    again, none = forms.project(rest)
    np.testing.assert_allclose(again, rest, atol=1e-12)
    np.testing.assert_allclose(none, 0, atol=1e-12)
    i, j = np.triu_indices(variables)
    for _ in range(20):
        v = rng.normal(size=variables)
        v2 = v[i] * v[j] * np.where(i == j, 1.0, math.sqrt(2.0))
        assert v2 @ symmetric @ v2 == pytest.approx(v2 @ matrix @ v2)
        constraint = v[0] ** 2 - 0.5 * v @ v
        assert v2 @ rest @ v2 + constraint * (form @ v2) == pytest.approx(v2 @ matrix @ v2)


def test_a_certificate_reaches_as_far_as_its_form_says():
    rng = np.random.default_rng(25)
    for _ in range(300):
        largest, multiple, goal = -rng.random() - 0.5, 6 * rng.normal(), rng.random()
        one = Certificate(2.0, largest, multiple, 1e-9, 1.0)
        inner = one.inner_radius(goal)
        assert inner <= 2.0
        n = 0.5 + 0.5 * (np.linspace(inner, 2.0, 400) / 2.0) ** 2
        sums = -(largest * n + multiple * (1 - n) / 2) * n - 1e-9
        assert inner == 2.0 or sums.min() >= goal - 1e-12
