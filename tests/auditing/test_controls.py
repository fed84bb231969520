"""Audits with controls, groups and weights, against refitting every subset."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import naive_controls
import numpy as np
import pytest
from control_instances import CLAIMS, Instance, hostile, instance, nearly_dependent

import quadsweep as qs
from quadsweep.auditing import claims
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import SlopeBeyond
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles import choice
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.regression import ManyControls
from quadsweep.auditing.resources import Resources


def least(case: Any, found: qs.Audit) -> int | None:
    return naive_controls.audit(
        case.regression, found.claim, found.level, found.threshold, found.tol, found.max_drop
    )


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS)
def test_agrees_with_every_refit_in_rational_arithmetic(claim: str) -> None:
    compared = 0
    for seed in range(30):
        case = instance(seed, claim, sizes=(7, 9), controls=(0, 3))
        if case is None or len(case.x) < case.controls.shape[1] + 4:
            continue
        found = qs.audit(case.x, case.y, n_jobs=1, **case.keywords)
        assert found.success, f"seed {seed}"
        assert found.drop == least(case, found), f"seed {seed}"
        if found.drop is not None:
            kept = np.flatnonzero(found.mask).tolist()
            data = case.regression
            assert naive_controls.breaks(
                naive_controls.refit(data, kept),
                naive_controls.refit(data, range(len(case.x))),
                claim, found.level, found.threshold, found.tol,
            ), f"seed {seed}"  # fmt: skip
        compared += 1
    assert compared > 20


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("family", [nearly_dependent, hostile])
def test_nearly_dependent_columns_are_told_apart(claim: str, family: Any) -> None:
    # With columns rounded to 16 digits, "reverse" of seed 50 is called robust; the truth is 2.
    compared = 0
    for seed in (0, 3, 10, 16, 29, 50):
        case = family(seed, claim)
        try:
            found = qs.audit(case.x, case.y, n_jobs=1, **case.keywords)
        except ValueError:  # the term has no coefficient
            assert is_explained(case), f"seed {seed}"
            continue
        compared += 1
        truth = least(case, found)
        assert found.lower <= (len(case.x) if truth is None else truth), f"seed {seed}"
        assert not found.success or found.drop == truth, f"seed {seed}"
    assert compared > 3


def is_explained(case: Instance) -> bool:
    """Whether what the controls leave of the term may be rounding in every row."""
    z = np.column_stack([np.ones(len(case.x)), case.controls])
    z /= np.abs(z).max(axis=0)
    left = np.abs(case.x - z @ np.linalg.lstsq(z, case.x)[0])
    return bool(left.max() < 1e-12 * np.abs(case.x).max())


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS)
def test_with_many_controls_the_interval_holds_the_truth(claim: str) -> None:
    for seed in range(6):
        case = instance(seed, claim, sizes=(12, 12), controls=(5, 7))
        if case is None:
            continue
        found = qs.audit(case.x, case.y, n_jobs=1, **case.keywords, max_drop=2)
        truth = least(case, found)
        assert found.lower <= (3 if truth is None else truth), f"seed {seed}"
        if found.upper is not None:
            assert truth is not None, f"seed {seed}"
            assert truth <= found.upper, f"seed {seed}"


def panel(seed: int) -> Design:
    """Dummies of a partition and others across it; units that are rows, parts of classes, whole
    classes, or neither; weights of all sizes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(9, 13))
    country = rng.integers(0, int(rng.integers(1, 5)), size=n)
    dummies = (country[:, None] == np.unique(country)[1:]).astype(float)
    others = rng.normal(size=(n, int(rng.integers(0, 3))))
    rare = (rng.uniform(size=(n, 1)) < 0.3).astype(float)
    z = np.column_stack([np.ones(n), others, dummies, rare[:, : int(rng.integers(2))]])
    z = z[:, : -1 if z.shape[1] > 1 and rng.uniform() < 0.3 else None]
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    unit = [np.arange(n), np.arange(n), country, 3 * country + rng.integers(0, 3, size=n),
            rng.integers(0, 5, size=n)][seed % 5]  # fmt: skip
    names, unit = np.unique(unit, return_inverse=True)
    weights = 10.0 ** rng.uniform(0, [1, 4][seed % 2], size=n) if rng.uniform() < 0.5 else None
    units = None if len(names) == n else names.tolist()
    if units is None:
        unit = np.arange(n)
    return Design(x, y, z, 0, weights, unit.astype(np.int64), units)


@pytest.mark.slow
def test_the_bound_for_any_number_of_controls_is_never_above_what_is_left() -> None:
    bounded = 0
    for seed in range(60):
        design = panel(seed)
        m = Moments(design)
        if min(m.scale) < 1e-6 or m.error > 1e-9:
            continue
        form = Prover(BreakProblem(m, SlopeBeyond(0.0, 0.0, -1))).residual_form(m.x, m.y)
        for size in range(1, min(4, design.size)):
            least = form.least(size)
            truth = [_least_left(m, some) for some in combinations(range(design.size), size)]
            assert least <= min(truth) + 1e-9, f"seed {seed}, {size} removed"
            bounded += least > -np.inf
    assert bounded > 60


def test_branching_on_units_proves_only_what_is_so() -> None:
    proved = 0
    for seed in range(25):
        design = panel(seed)
        m = Moments(design)
        if min(m.scale) < 1e-6 or m.error > 1e-9 or m.x @ m.y <= 0.05:
            continue
        form = Prover(BreakProblem(m, SlopeBeyond(0.0, 0.0, -1))).residual_form(m.x, m.y)
        for size in range(1, min(4, design.size)):
            if form.refute(size, Resources(np.inf)).proved:
                proved += 1
                least = min(_least_left(m, some) for some in combinations(range(design.size), size))
                assert least > 0, f"seed {seed}, {size} removed"
    assert proved > 10


def _least_left(moments: Moments, gone: tuple[int, ...]) -> float:
    """What is left of x.y, exactly, in units of their lengths."""
    rows = moments.design.rows(np.array(gone))
    if len(rows) == moments.design.n:
        return 0.0
    return float(moments.exact(rows).c) / (moments.scale[0] * moments.scale[1])


def some_regression(n: int = 120) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(n, 2))
    x = rng.normal(size=n) + z[:, 0]
    return x, 0.25 * x + z @ [1.0, -1.0] + rng.normal(size=n), z


def test_the_coefficient_is_that_of_the_multiple_regression() -> None:
    x, y, z = some_regression()
    found = qs.audit(x, y, controls=z)
    full = np.linalg.lstsq(np.column_stack([np.ones(len(x)), z, x]), y, rcond=None)[0]
    assert found.before.slope == pytest.approx(full[-1])
    assert found.before.intercept == pytest.approx(full[0])
    assert found.after is not None
    assert found.after.slope * found.before.slope < 0
    assert found.upper == len(found.outliers)


def test_a_formula_a_fitted_model_and_arrays_are_one_question() -> None:
    pd = pytest.importorskip("pandas")
    smf = pytest.importorskip("statsmodels.formula.api")
    x, y, z = some_regression(80)
    frame = pd.DataFrame({"wage": y, "educ": x, "age": z[:, 0], "iq": z[:, 1]})
    formula = "wage ~ educ + age + iq"
    by_formula = qs.audit(formula, data=frame, term="educ", claim="significance")
    fitted = smf.ols(formula, frame).fit()
    by_model = qs.audit(fitted, term="educ", claim="significance")
    by_arrays = qs.audit(x, y, controls=z, claim="significance")
    assert by_formula.drop == by_model.drop == by_arrays.drop
    assert by_formula.before.p_value == pytest.approx(fitted.pvalues["educ"])
    assert by_formula.before.r2 == pytest.approx(fitted.rsquared)
    assert "coefficient of educ (given age and iq)" in by_formula.message
    assert "classical t test" in by_formula.message


def test_weights_are_those_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    x, y, z = some_regression(60)
    weights = np.random.default_rng(1).uniform(0.5, 3, size=60)
    fitted = sm.WLS(y, sm.add_constant(np.column_stack([x, z])), weights=weights).fit()
    found = qs.audit(fitted, term="x1", claim="significance")
    same = qs.audit(x, y, controls=z, weights=weights, claim="significance")
    assert found.before.p_value == pytest.approx(fitted.pvalues[1])
    assert found.before.r2 == pytest.approx(fitted.rsquared)
    assert (found.lower, found.upper) == (same.lower, same.upper)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_of_pyfixest_is_read_as_it_was_fitted(weighted: bool) -> None:
    pf = pytest.importorskip("pyfixest")
    pd = pytest.importorskip("pandas")
    x, y, z = some_regression(60)
    weight = np.random.default_rng(1).uniform(0.5, 3, size=60)
    frame = pd.DataFrame({"y": y, "x": x, "a": z[:, 0], "b": z[:, 1], "w": weight})
    fitted = pf.feols("y ~ x + a + b", frame, weights="w" if weighted else None)
    found = qs.audit(fitted, term="x")
    same = qs.audit(x, y, controls=z, weights=weight if weighted else None)
    assert found.before.slope == pytest.approx(fitted.coef()["x"])
    assert found.before.p_value == pytest.approx(fitted.pvalue()["x"])
    assert (found.lower, found.upper) == (same.lower, same.upper)


@pytest.mark.parametrize("kind", ["HC1", "HC3", "clusters"])
def test_robust_and_clustered_standard_errors_are_those_of_statsmodels(kind: str) -> None:
    sm = pytest.importorskip("statsmodels.api")
    x, y, z = some_regression(60)
    village = np.arange(60) % 12
    how: Any = {"cov_type": kind}
    if kind == "clusters":
        how = {"cov_type": "cluster", "cov_kwds": {"groups": village}}
    fitted = sm.OLS(y, sm.add_constant(np.column_stack([x, z]))).fit(**how, use_t=True)
    vcov = village if kind == "clusters" else kind
    found = qs.audit(x, y, controls=z, vcov=vcov, claim="significance", time_limit=0.5)
    assert found.before.p_value == pytest.approx(fitted.pvalues[1])
    said = "clustered by the labels given" if kind == "clusters" else f"{kind} standard errors"
    assert f"t test, {said.replace('clustered', 'standard errors clustered')}" in found.message


def test_groups_are_named_and_their_rows_counted() -> None:
    rng = np.random.default_rng(3)
    village = np.repeat([f"v{i}" for i in range(20)], 5)
    z = rng.normal(size=100)
    x = rng.normal(size=100)
    y = 0.2 * x + z + rng.normal(size=100)
    found = qs.audit(x, y, controls=z, groups=village)
    assert isinstance(found, qs.RegressionAudit)
    assert found.upper is not None
    assert found.groups is not None
    assert len(found.groups) == found.upper
    assert len(found.outliers) == 5 * found.upper
    assert set(village[found.outliers]) == set(found.groups)
    assert f"{found.upper} of 20 groups" in found.message
    assert f"({5 * found.upper} of 100 rows" in found.message


def test_an_emptied_dummy_drops_out() -> None:
    # The dummy's two rows make the coefficient positive; without them it is negative.
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 0, 10])
    y = np.array([6.0, 5.1, 4, 3, 2.2, 1, 0, 0, 60])
    dummy = np.array([0.0] * 7 + [1, 1])
    found = qs.audit(x, y, controls=dummy)
    assert found.drop == 1
    both = naive_controls.refit(
        naive_controls.Regression(x, y, [[1.0] * 9, dummy], True, None, list(range(9))), range(7)
    )
    assert both.rank == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "seed"),
    [("reverse", 2), ("reverse", 8), ("significance", 9)],
)
def test_branching_on_rows_alone_decides_a_test(claim: str, seed: int, monkeypatch) -> None:
    """Intervals of tau are halved, or another tau taken, where a removal fails that breaks nothing;
    one number of them left all of these open."""
    monkeypatch.setattr(choice, "OF_LEAST_SQUARES", (ManyControls,))
    case = instance(seed, claim, (12, 14), (3, 5))
    assert case is not None
    found = qs.audit(case.x, case.y, n_jobs=1, time_limit=60, **case.keywords)
    assert found.status == "optimal"
    assert found.drop == least(case, found)


@pytest.mark.parametrize("shares", [(1.0, 1.0), (0.3, -0.7), (1 / 3, 0.0)])
def test_a_term_that_the_controls_explain_up_to_rounding_has_no_coefficient(shares) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 2))
    y = z[:, 0] + rng.normal(size=60)
    with pytest.raises(ValueError, match="the controls explain x on all rows, up to rounding"):
        qs.audit(z @ np.array(shares), y, controls=z, claim="sign")
    nearly = z @ np.array(shares) + 1e-9 * rng.normal(size=60)
    assert qs.audit(nearly, y, controls=z, claim="sign", time_limit=20).lower >= 1


def test_controls_held_fixed_are_called_an_approximation() -> None:
    pd = pytest.importorskip("pandas")
    x, y, z = some_regression(60)
    frame = pd.DataFrame({"y": y, "x": x, "a": z[:, 0], "b": z[:, 1]})
    found = qs.audit("y ~ x + a + b", data=frame, term="x", controls="fixed")
    assert "an approximation" in found.message
    assert found.drop is not None
    exact = qs.audit("y ~ x + a + b", data=frame, term="x")
    assert exact.before.slope == pytest.approx(found.before.slope)


def test_missing_values_are_refused_or_left_out() -> None:
    x, y, z = some_regression(40)
    z[3, 0] = np.nan
    with pytest.raises(ValueError, match="1 rows with missing values"):
        qs.audit(x, y, controls=z)
    found = qs.audit(x, y, controls=z, nan_policy="omit")
    assert found.n == 39
    assert not found.mask[3]


def test_rows_left_out_are_named_as_rows() -> None:
    x, y, z = some_regression(30)
    x[3] = np.nan
    for found in (
        qs.audit(x, y, nan_policy="omit"),
        qs.audit(x, y, controls=z, nan_policy="omit"),
    ):
        lines = dict(found.summary_items())
        assert lines["left out"] == "row 3 (numbered from 0; missing or infinite)"
        assert lines["removed"].startswith("row")


def test_a_time_limit_leaves_an_honest_interval() -> None:
    x, y, z = some_regression(400)
    found = qs.audit(x, y, controls=z, time_limit=0.0)
    assert found.status == "time_limit"
    assert (found.lower, found.drop) == (1, None)


def test_however_short_the_time_a_removal_by_influence_is_counted() -> None:
    x, y, z = some_regression()
    found = qs.audit(x, y, controls=z, time_limit=0.0)
    assert found.upper == len(found.outliers)
    assert (found.before.slope > 0) != (found.after.slope > 0)
    assert found.message.startswith(f"Removing {found.upper} of 120 rows")


def test_a_claim_without_a_condition_is_not_answered_by_another() -> None:
    full = Moments(panel(0)).all_rows()
    for name in claims.NAMES:
        threshold = {"r2": 0.5, "slope": (-1.0, 1.0)}.get(name)
        assert claims.build(claims.Terms(name, 0.05, threshold, 1e-9), full).name == name
    with pytest.raises(ValueError, match=r"claim must be one of .*; got 'median'"):
        claims.build(claims.Terms("median", 0.05, None, 1e-9), full)


def test_stops_when_the_callback_says_so() -> None:
    x, y, z = some_regression(400)
    found = qs.audit(x, y, controls=z, progress=lambda *state: False)
    assert found.status == "interrupted"


def test_goes_to_json_and_html() -> None:
    x, y, z = some_regression(40)
    found = qs.audit(x, y, controls=z, groups=np.arange(40) // 4)
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read["term"] == "x"
    assert read["controls"] == ["Intercept", "z1", "z2"]
    assert read["n_groups"] == 10
    assert "coefficient of x" in found._repr_html_()
    assert "test" not in dict(found.summary_items())
    assert json.dumps(found.to_dict()["before"]["freedom"]) == "36"
    tested = qs.audit(x, y, controls=z, claim="significance")
    assert dict(tested.summary_items())["test"] == "classical t test"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"controls": [1, 2, 3]}, "controls must be 8 rows of numbers"),
        ({"controls": "fixed"}, "controls must be columns of numbers"),
        ({"weights": [0.0] * 8}, "weights must be positive; got 0"),
        ({"weights": [1.0] * 3}, "one label a row, 8 of them"),
        ({"groups": [1] * 8}, "groups must be at least two"),
        ({"vcov": "HC9"}, "vcov must be 'classical', 'HC0', 'HC1', 'HC2', 'HC3',"),
        ({"controls": [1] * 8, "max_drop": 7}, "max_drop=7 removes up to 7 of 8 rows"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments: dict[str, Any], sentence: str) -> None:
    x, y = [1, 2, 3, 4, 5, 6, 7, 20], [6, 5, 4, 3, 2, 1, 0, 20]
    with pytest.raises(ValueError, match=sentence):
        qs.audit(x, y, **arguments)


def test_several_columns_as_x_are_told_how_to_ask() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(9, 3)), columns=["dose", "age", "effect"])
    with pytest.raises(ValueError, match=r"x has 2 columns \(dose, age\): give the one") as said:
        qs.audit(frame[["dose", "age"]], frame["effect"])
    assert "audit('effect ~ dose + age', data=frame, term='dose')" in str(said.value)


def test_a_misspelt_term_is_pointed_out() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("formulaic")
    x, y, z = some_regression(20)
    frame = pd.DataFrame({"wage": y, "educ": x, "age": z[:, 0]})
    with pytest.raises(ValueError, match="did you mean 'educ'"):
        qs.audit("wage ~ educ + age", data=frame, term="edcu")
    with pytest.raises(ValueError, match="give term, one of: educ, age"):
        qs.audit("wage ~ educ + age", data=frame)


def test_the_picture_marks_what_is_removed() -> None:
    pytest.importorskip("matplotlib")
    x, y, z = some_regression(60)
    found = qs.audit(x, y, controls=z)
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"removed ({found.upper})" in labels
    assert "given the controls" in ax.get_xlabel()


def test_the_command_line_takes_a_formula_or_columns(tmp_path: Any) -> None:
    pytest.importorskip("formulaic")
    from typer.testing import CliRunner

    from quadsweep.cli.application import app

    x, y, z = some_regression(60)
    table = tmp_path / "wages.csv"
    rows = ["wage,educ,age,region"]
    rows += [f"{b!r},{a!r},{c!r},r{i % 6}" for i, (a, b, c) in enumerate(
        zip(x.tolist(), y.tolist(), z[:, 0].tolist(), strict=True))]  # fmt: skip
    table.write_text("\n".join(rows))
    runner = CliRunner()
    formula = ["--formula", "wage ~ educ + age", "--term", "educ"]
    first = runner.invoke(app, ["audit", str(table), *formula, "--json"])
    assert first.exit_code == 0, first.output
    by_columns = ["--x", "educ", "--y", "wage", "--controls", "age"]
    second = runner.invoke(app, ["audit", str(table), *by_columns, "--json"])
    one, two = json.loads(first.stdout), json.loads(second.stdout)
    assert one["drop"] == two["drop"] == len(one["dropped"])
    assert one["term"] == "educ"
    grouped = runner.invoke(app, ["audit", str(table), *formula, "--groups", "region", "--json"])
    assert json.loads(grouped.stdout)["n_groups"] == 6
    wrong = runner.invoke(app, ["audit", str(table), *formula, "--groups", "regoin"])
    assert wrong.exit_code != 0


def test_a_sentinel_shared_by_two_controls_does_not_make_them_dependent() -> None:
    rng = np.random.default_rng(3)
    n = 10
    z = rng.normal(size=(n, 2))
    z[2] = -1e15, 1e15
    x = rng.normal(size=n)
    y = x + 3 * z[:, 1] * (np.arange(n) != 2) + rng.normal(size=n)
    case = Instance(x, y, z, None, None, {"claim": "significance"})
    found = qs.audit(x, y, controls=z, claim="significance", n_jobs=1)
    assert found.controls == ("Intercept", "z1", "z2")
    assert found.success
    assert found.drop == least(case, found)


def test_a_total_of_rounded_controls_is_dependent_and_an_offset_is_not() -> None:
    x, y, z = some_regression()
    z = z + np.array([1e6, 3e5])
    both = np.column_stack([z, z.sum(axis=1)])
    assert qs.audit(x, y, controls=both, max_drop=1).controls == ("Intercept", "z1", "z2")
    far = np.column_stack([z, np.random.default_rng(0).normal(size=len(x)) + 1e13])
    assert qs.audit(x, y, controls=far, max_drop=1).controls[-1] == "z3"


@pytest.mark.parametrize("unit", [5e-324 * 2**20, 1e-170, 1e170])
@pytest.mark.parametrize("column", ["x", "y", "z"])
def test_squares_that_do_not_fit_a_double_change_no_answer(column, unit):
    rng = np.random.default_rng(8)
    columns = {name: rng.integers(-9, 10, size=12).astype(float) for name in "xyz"}
    columns["y"] += columns["x"]

    def audited():
        return qs.audit(columns["x"], columns["y"], controls=columns["z"][:, None])

    usual = audited()
    columns[column] *= unit
    assert (usual.drop, usual.status) == (audited().drop, audited().status)


def test_three_rows_on_a_line_are_found_among_twelve():
    """The fewest rows left that can be significant lie on a line exactly."""
    x = np.array([-1.0, -1, -1, 0, 3, 3, 0, 0, 3, 2, -2, 3])
    y = np.array([3.0, -3, 2, 1, 0, -2, 3, 0, -3, -2, 1, 2])
    audit = qs.audit(x, y, claim="reverse", controls=np.empty((12, 0)))
    assert (audit.lower, audit.upper) == (9, 9)


@pytest.mark.slow
@pytest.mark.parametrize("oracle", [ManyControls, Enumeration])
def test_groups_of_one_row_each_are_refitted_like_rows(oracle, monkeypatch) -> None:
    """A class, the intercept for one, is then inside of no group."""
    fewer, usual = 0, choice.OF_LEAST_SQUARES
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = 12
        x, z = rng.normal(size=n), rng.normal(size=n)
        weights = np.exp(rng.normal(0, 3, n))
        y = 0.5 * x + z + rng.normal(size=n)
        for claim in ("sign", "significance"):
            asked = {"controls": z, "weights": weights, "claim": claim, "level": 0.5, "n_jobs": 1}
            monkeypatch.setattr(choice, "OF_LEAST_SQUARES", usual)
            rows = qs.audit(x, y, **asked)
            monkeypatch.setattr(choice, "OF_LEAST_SQUARES", (oracle,))
            groups = qs.audit(x, y, groups=rng.permutation(n), **asked)
            ends = [f.max_drop + 1 if f.upper is None else f.upper for f in (rows, groups)]
            assert groups.lower <= ends[0] <= ends[1], (seed, claim)
            fewer += groups.lower > 1
    assert fewer > 0


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_many_rows_are_bounded_by_their_sums_of_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit, controls = (
        np.repeat(np.arange(9), 30),
        np.column_stack([np.ones(270), *rng.normal(size=(3, 270))]),
    )
    x = rng.normal(size=270) + rng.normal(size=9)[unit]
    y = 0.05 * x + rng.normal(size=270) + 0.4 * rng.normal(size=9)[unit]
    design = Design(x, y, controls, 0, None, rng.permutation(unit), list(range(9)))
    moments = Moments(design)
    problem = BreakProblem(moments, SlopeBeyond(0.0, 0.0, -1 if moments.squares.c > 0 else 1))
    prover = Prover(problem)
    for m in (1, 2, 3):
        removals = [np.array(s) for k in range(1, m + 1) for s in combinations(range(9), k)]
        assert prover.refute(1, m).proved == (not any(map(problem.broken, removals)))
