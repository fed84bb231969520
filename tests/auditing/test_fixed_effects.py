"""Dummies of a partition are fitted by means: the same sums, fits and answers as by columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.audit import audit_given
from quadsweep.auditing.break_problem import residuals
from quadsweep.auditing.claims import terms
from quadsweep.auditing.classes import Classes
from quadsweep.auditing.confirm import StatedModel
from quadsweep.auditing.controls import reading
from quadsweep.auditing.controls.robust import fit_term
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.resources import Resources
from quadsweep.inputs.standard_errors import StandardErrors

FIELDS = ("k", "rank", "a", "b", "c", "total")


def panel(seed: int, n: int = 40, classes: int = 6, *, weights=False, groups="none") -> Design:
    """Classes of different sizes, some of one row; a column that is constant in every class."""
    rng = np.random.default_rng(seed)
    of_row = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    level = np.round(rng.normal(size=classes), 1)[of_row]
    x = np.round(rng.normal(size=n) + level, 2)
    z = np.column_stack([np.ones(n), np.round(rng.normal(size=(n, 2)), 2), level])
    y = np.round(0.3 * x + z[:, 1] + level + rng.normal(size=n), 2)
    unit = {"none": np.arange(n), "classes": of_row // 2, "across": rng.integers(0, 9, n)}[groups]
    unit = np.unique(unit, return_inverse=True)[1]
    return Design(
        x, y, z[:, :3], 0, np.round(rng.uniform(0.5, 2, n), 1) if weights else None, unit,
        None if groups == "none" else [str(g) for g in range(int(unit.max()) + 1)],
        names=("Intercept", "z1", "z2"), classes=of_row,
    )  # fmt: skip


def removals(design: Design, seed: int) -> list[np.ndarray]:
    """At random, and whole classes among them."""
    rng = np.random.default_rng(seed)
    assert design.classes is not None
    out = [rng.choice(design.n, size=m, replace=False) for m in (0, 1, 3, 6)]
    out += [np.flatnonzero(design.classes == c) for c in range(3)]
    out.append(np.union1d(out[2], out[-1]))
    return [np.sort(gone).astype(np.int64) for gone in out]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_sums_are_those_of_columns_in_floating_point_and_exactly(seed: int, weights: bool) -> None:
    design = panel(seed, weights=weights)
    by_means, by_columns = Moments(design), Moments(design.expanded())
    assert by_means.q.shape[1] == 2
    assert by_means.rank == by_columns.rank
    for gone in removals(design, seed):
        exact, other = by_means.exact(gone), by_columns.exact(gone)
        assert [getattr(exact, f) for f in FIELDS] == [getattr(other, f) for f in FIELDS]
        about = by_means.without(gone)
        assert about is not None
        scale = dict(zip("abc", ((0, 0), (1, 1), (0, 1)), strict=True))
        for name, (i, j) in scale.items():
            unit = by_means.scale[i] * by_means.scale[j]
            assert getattr(about, name) * unit == pytest.approx(float(getattr(exact, name)))
        assert about.rank == exact.rank


@pytest.mark.parametrize("kind", ["classical", "HC1", "HC3"])
@pytest.mark.parametrize("seed", range(3))
def test_fits_are_those_of_columns(seed: int, kind: str) -> None:
    design, errors = panel(seed, weights=True), StandardErrors(kind)
    for gone in removals(design, seed):
        kept = np.setdiff1d(np.arange(design.n), gone)
        found, other = fit_term(design, kept, errors), fit_term(design.expanded(), kept, errors)
        for name in ("slope", "se", "t", "r", "r2", "p_value", "freedom"):
            assert getattr(found, name) == pytest.approx(getattr(other, name), nan_ok=True), name


@pytest.mark.parametrize("seed", range(4))
def test_rows_go_and_return_inside_of_classes(seed: int) -> None:
    design, rng = panel(seed, weights=True), np.random.default_rng(seed)
    m = Moments(design)
    start = np.array([0, 7, 9], dtype=np.int64)
    gone, state = start.tolist(), residuals(m, start)
    sizes = np.bincount(design.classes)
    for _ in range(30):
        kept = np.setdiff1d(np.arange(design.n), gone)
        left = np.bincount(design.classes[kept], minlength=len(sizes))
        free = kept[left[design.classes[kept]] > 1]
        if len(gone) > 3 and rng.random() < 0.5:
            state = state.return_row(row := gone.pop(int(rng.integers(len(gone)))))
        else:
            state = state.without(row := int(rng.choice(free)))
            gone.append(row)
        if np.any(np.bincount(design.classes[gone], minlength=len(sizes)) == sizes):
            break  # a class is emptied: what is about its mean is anyone's
        anew = residuals(m, np.array(sorted(gone), dtype=np.int64))
        for name in ("x", "y", "a", "b", "c", "leverage", "inside"):
            np.testing.assert_allclose(getattr(state, name), getattr(anew, name), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("groups", ["none", "classes", "across"])
@pytest.mark.parametrize(
    "claim", [("sign", None), ("significance", None), ("reverse", None), ("r2", 0.3)]
)
def test_audits_are_those_of_columns(claim, groups: str) -> None:
    for seed in range(2):
        many = {"none": 4, "classes": 12, "across": 4}[groups]
        design = panel(seed, n=16 + many, classes=many, weights=seed % 2 == 1, groups=groups)
        given = reading.Regression(
            design, np.arange(design.n), design.n, StandardErrors("classical"), "", None,
            stated=StatedModel(design.expanded(), StandardErrors("classical")),
        )  # fmt: skip
        found = [
            audit_given(
                replace(given, design=d), terms(claim[0], 0.05, claim[1], 1e-9), Resources(2.0)
            )
            for d in (design, design.expanded())
        ]  # fmt: skip
        ends = [f.max_drop + 1 if f.upper is None else f.upper for f in found]
        assert found[0].lower <= ends[1], seed
        assert found[1].lower <= ends[0], seed
        if found[0].success and found[1].success:
            assert found[0].drop == found[1].drop, seed


def test_two_ways_absorb_the_one_with_more_levels() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"firm": np.repeat(np.arange(50), 4), "year": np.tile(np.arange(4), 50)})
    frame["x"] = rng.normal(size=200) + frame.firm % 3
    frame["w"] = frame.firm * 0.5  # explained by the firms
    frame["y"] = 0.4 * frame.x + frame.firm * 0.1 + frame.year + rng.normal(size=200)
    found = qs.audit("y ~ x + w | firm + year", data=frame, term="x", time_limit=2.0, n_jobs=1)
    assert found.design.classes is not None
    assert found.design.controls.shape[1] == 4
    assert "given firm and year" in found.message
    columns = qs.audit("y ~ x + C(firm) + C(year)", data=frame, term="x", time_limit=2.0, n_jobs=1)
    assert found.before.slope == pytest.approx(columns.before.slope)
    assert found.before.se == pytest.approx(columns.before.se)
    assert columns.design.classes is not None
    assert found.upper == columns.upper


def test_whole_units_cost_no_dimension_and_every_removal_of_them_is_tried() -> None:
    rng = np.random.default_rng(3)
    state = np.repeat(np.arange(18), 28)
    year = np.tile(np.arange(28), 18)  # fewer rows a year than a state: rarer dummies
    dummies = [(labels[:, None] == np.arange(1, labels.max() + 1)) for labels in (state, year)]
    z = np.column_stack(dummies).astype(float)
    n = len(state)
    x = rng.normal(size=n) + state % 4
    y = 0.5 * x + state * 0.3 + year + rng.normal(size=n)
    found = qs.audit(x, y, controls=z, groups=state, time_limit=0.0)
    oracle = Enumeration(found.problems[0], Resources(np.inf))
    assert found.problems[0].moments.rank == 45
    assert found.problems[0].moments.q.shape[1] == 27
    assert oracle.refutes_at_once(1, 2)
    assert oracle.decide(3, 3, np.inf).refuted


def test_a_class_that_is_emptied_exactly_is_not_divided_by() -> None:
    design = panel(1)
    gone = np.flatnonzero(design.classes == 0)
    assert isinstance(Moments(design).exact(gone).a, Fraction)


def test_what_takes_too_many_removals_is_not_counted() -> None:
    rng = np.random.default_rng(0)
    n = 3_000
    x, z = rng.normal(size=n), rng.normal(size=n)
    case = qs.audit(x, x + z, controls=z, time_limit=0.0).problems[0]
    oracle = Enumeration(case, Resources(60.0))
    assert oracle.seconds(1) < 1
    assert oracle.seconds(1_500) == np.inf
    assert not oracle.refutes_at_once(1_000, 2_000)


def test_no_other_columns_are_no_rows_in_addition() -> None:
    classes = Classes(np.arange(12) % 3, np.ones(12))
    assert classes.without(np.array([0, 1, 3])).more(np.zeros((12, 0))).shape == (2, 0)


@pytest.mark.slow
def test_dummies_alone_are_controls_enough(monkeypatch) -> None:
    monkeypatch.setattr(reading, "_MANY", 5)
    rng = np.random.default_rng(4)
    of_row = np.arange(60) % 20
    x = rng.normal(size=60)
    y = 0.15 * x + rng.normal(size=60) + of_row
    found = qs.audit(x, y, controls=np.eye(20)[of_row][:, 1:])

    def within(kept: np.ndarray) -> float:
        means = [[v[kept][of_row[kept] == c].mean() for c in of_row[kept]] for v in (x, y)]
        return float((x[kept] - means[0]) @ (y[kept] - means[1]))

    every = np.arange(60)
    assert within(every) > 0
    broken = [
        m for m in (1, 2) for gone in combinations(every, m) if within(np.delete(every, gone)) < 0
    ]
    assert (found.status, found.drop) == ("optimal", min(broken))
