"""Audits of the tests people report: robust and clustered standard errors, instruments."""

from __future__ import annotations

import re
from itertools import combinations
from types import SimpleNamespace

import fuzz_estimating
import fuzz_runs
import naive_estimating
import numpy as np
import pytest
from naive_estimating import Instance

import quadsweep as qs
from quadsweep import _core
from quadsweep.auditing.exact_tests import ExactTests
from quadsweep.auditing.oracles.refits import Refits
from quadsweep.inputs.standard_errors import StandardErrors

sm = pytest.importorskip("statsmodels.api")


def some(seed: int, n: int = 30, slope: float = 0.8):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1))
    x = rng.normal(size=n) + 0.3 * z[:, 0]
    return x, slope * x + z[:, 0] + rng.standard_t(3, size=n), z


@pytest.mark.parametrize("listing", ["always", "never"])
@pytest.mark.parametrize("number", range(0, 40, 3))
def test_the_fewest_removals_are_those_of_every_refit_by_statsmodels(number, listing):
    verdict = fuzz_estimating.judge(7, number, listing)
    assert verdict.outcome != fuzz_runs.WRONG, verdict.what
    assert listing == "never" or verdict.outcome != fuzz_runs.OPEN, verdict.what


def test_an_audit_that_says_one_too_few_or_too_many_is_noticed():
    x, y, z = some(3)
    found = qs.audit(x, y, controls=z, vcov="HC1", claim="significance", max_drop=4)
    assert found.drop is not None
    case = Instance(x, y, z, "HC1")
    truth = naive_estimating.fewest(case, found.drop)
    assert fuzz_estimating.is_right(found, truth, 4)
    for wrong in (found.drop - 1, found.drop + 1):
        assert not fuzz_estimating.is_right(found, wrong, 4)


@pytest.mark.parametrize("kind", ["classical", "HC0", "HC1", "HC2", "HC3", "one way", "two ways"])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_t_statistics_are_those_of_statsmodels(kind, weighted):
    x, y, z = some(1)
    w = np.random.default_rng(2).uniform(0.5, 2, size=30) if weighted else np.ones(30)
    design = np.column_stack([np.ones(30), z])
    clusters = np.column_stack([np.arange(30) % 7, np.arange(30) // 5])
    how = {} if kind == "classical" else {"cov_type": kind, "use_t": True}
    errors = StandardErrors(kind, k_adj=kind in ("classical", "HC1"))
    if "way" in kind:
        clusters = clusters[:, : 1 if kind == "one way" else 2]
        groups = clusters[:28].squeeze()
        how = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
        errors = StandardErrors("cluster", tuple(clusters.T))
    fitted = sm.WLS(y[:28], np.column_stack([x, design])[:28], weights=w[:28]).fit(**how)
    found = ExactTests(design, x, y, weights=w if weighted else None).test(np.arange(28), errors)
    assert found.freedom == getattr(fitted, "df_resid_inference", fitted.df_resid)
    assert found.sign * float(found.square) ** 0.5 == pytest.approx(fitted.tvalues[0], rel=1e-9)


def test_two_way_clusters_are_audited_as_statsmodels_fits_them():
    x, y, z = some(5, slope=0.5)
    clusters = np.column_stack([np.arange(30) % 7, np.arange(30) // 5])
    fitted = sm.OLS(y, np.column_stack([x, np.ones(30), z])).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )
    found = qs.audit(fitted, term="x1", claim="significance", max_drop=2, n_jobs=1)
    truth = naive_estimating.fewest(Instance(x, y, z, clusters), 2)
    assert found.success
    assert found.drop == truth


FULL = " + diamonds * cont_africa + soil * cont_africa + tropical * cont_africa"


@pytest.mark.parametrize("more", ["", FULL])
def test_the_published_regression_of_ruggedness_loses_its_significance_with_exactly_two_rows(more):
    pytest.importorskip("formulaic")
    data = qs.datasets.load("ruggedness")
    frame = data.to_frame()
    frame["diamonds"] = frame["gemstones"] / (frame["land_area"] / 100)
    found = qs.audit(
        data.formula + more, data=frame, term=data.term, vcov="HC1", claim="significance"
    )
    assert (found.lower, found.upper) == (2, 2)
    assert "No single row does." in found.message


def test_rows_that_alone_carry_a_dummy_are_decided_exactly():
    x, y, z = some(8, 16)
    lone = np.zeros((16, 1))
    lone[4] = 1.0
    case = Instance(x, y, np.hstack([z, lone]), "HC1")
    found = qs.audit(x, y, controls=case.controls, vcov="HC1", claim="significance", max_drop=2)
    assert found.success
    assert found.drop == naive_estimating.fewest(case, 2)


def test_removals_on_the_threshold_are_unclear_to_floating_point():
    """The critical value is the t of a removal itself, give or take a few ulps."""
    x, y, z = some(9, 20)
    design = np.column_stack([np.ones(20), z])
    kept = np.delete(np.arange(20), 7)
    exact = ExactTests(design, x, y).test(kept, StandardErrors("HC1"))
    q = np.linalg.qr(design)[0]
    u, w = (v - q @ (q.T @ v) for v in (x, y))
    columns = [v / np.linalg.norm(v) for v in (u, u, w)]
    critical = np.full(21, float(exact.square) ** 0.5)
    test = _core.LinearTest(q, *columns, list(range(21)), kind="HC1", critical=critical, side=0)
    found = _core.try_all(test, [7], 1)
    assert found["unclear"] == [[7]]
    assert not found["breaking"]
    test = _core.LinearTest(q, *columns, list(range(21)), kind="HC1", critical=critical * 1.001,
                            side=0)  # fmt: skip
    assert _core.try_all(test, [7], 1)["breaking"] == [7]


def test_a_limit_on_time_ends_an_enumeration_and_nothing_is_proved():
    rng = np.random.default_rng(11)
    q = np.linalg.qr(rng.normal(size=(400, 4)))[0]
    columns = [v / np.linalg.norm(v) for v in rng.normal(size=(2, 400))]
    test = _core.LinearTest(q, columns[0], *columns, list(range(401)), kind="HC3",
                            critical=np.zeros(401), side=0)  # fmt: skip
    found = _core.try_all(test, list(range(400)), 4, time_limit=0.01)
    assert (found["complete"], found["status"]) == (False, "time_limit")


@pytest.mark.parametrize("what", ["alone", "with a control", "whole clusters"])
def test_boxes_prove_what_no_enumeration_could(what):
    rng = np.random.default_rng(4)
    n, slope, more = {
        "alone": (200, 0.35, {"vcov": "HC1"}),
        "with a control": (300, 0.2, {"vcov": "HC1", "controls": rng.normal(size=(300, 1))}),
        "whole clusters": (
            240,
            0.3,
            dict.fromkeys(("vcov", "groups"), np.repeat(np.arange(60), 4)),
        ),
    }[what]
    z = more.get("controls", np.zeros((n, 0)))
    x = rng.normal(size=n) + z.sum(axis=1) / 2
    y = slope * x + z.sum(axis=1) + rng.normal(size=n)
    how = {"cov_type": "HC1"}
    if "groups" in more:
        y += rng.normal(size=60)[more["groups"]]
    found = qs.audit(x, y, **more, claim="significance", n_jobs=1)
    assert found.success
    assert found.drop > (0 if "groups" in more else 5)
    kept = np.flatnonzero(found.mask)
    if "groups" in more:
        how = {"cov_type": "cluster", "cov_kwds": {"groups": more["groups"][kept]}}
    fitted = sm.OLS(y[kept], sm.add_constant(np.column_stack([x, z])[kept])).fit(**how, use_t=True)
    assert fitted.pvalues[1] > 0.05


def test_more_removals_than_a_float_can_count_take_too_long():
    design = SimpleNamespace(n=10_000, size=10_000)
    case = SimpleNamespace(moments=SimpleNamespace(design=design, rank=1),
                           errors=StandardErrors("HC1"))  # fmt: skip
    asked = SimpleNamespace(problem=case, resources=SimpleNamespace(n_jobs=1), _speed=1e6)
    assert Refits.seconds(asked, 1) < 1e100 < Refits.seconds(asked, 500)


CONTINENTS = "latitude + africa + asia + north_america + south_america + "


@pytest.mark.parametrize(("controls", "truth"), [("", 14), ("latitude + ", 10), (CONTINENTS, 6)])
def test_the_sign_of_an_instrumented_coefficient_flips_with_a_proved_number_of_rows(
    controls, truth
):
    pytest.importorskip("formulaic")
    frame = qs.datasets.load("colonial-origins").to_frame()
    formula = f"log_gdp ~ {controls}[expropriation_risk ~ log_mortality]"
    found = qs.audit(formula, data=frame, n_jobs=1)
    assert (found.lower, found.upper) == (truth, truth)
    assert "expropriation_risk (instrumented by log_mortality" in found.message
    assert found.after.slope < 0 < found.before.slope
    ratio = found.reduced_form.slope / found.first_stage.slope
    assert found.before.slope == pytest.approx(ratio)


def both_forms(n: int, seed: int) -> dict[str, np.ndarray]:
    """A weak instrument, whose first row alone makes the sign of both forms."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = -0.1 * z + rng.normal(size=n)
    y = 0.1 * x + rng.normal(size=n)
    x[0] = y[0] = z[0] = 9
    return {"z": z, "x": x, "y": y}


def fewest_for_another_sign(data: dict[str, np.ndarray], most: int) -> int | None:
    """By every removal, each with both covariances."""
    n = len(data["z"])
    sign = 0
    for m in range(most + 1):
        for gone in combinations(range(n), m):
            z, x, y = (np.delete(data[name], gone) for name in "zxy")
            z = z - z.mean()
            if sign == 0:
                sign = np.sign((z @ x) * (z @ y))
            elif (z @ x) * (z @ y) * sign < 0:
                return m
    return None


@pytest.mark.parametrize("seed", range(8))
def test_a_ratio_turns_with_as_few_rows_as_enumeration_says(seed: int) -> None:
    pytest.importorskip("formulaic")
    data = both_forms(14, seed)
    truth = fewest_for_another_sign(data, 4)
    found = qs.audit("y ~ 1 + [x ~ z]", data=data, max_drop=4, n_jobs=1)
    assert found.success
    assert found.upper == truth
    one = qs.audit("y ~ 1 + [x ~ z]", data=data, max_drop=1, n_jobs=1)
    assert (one.upper is None) == (truth is None or truth > 1)


@pytest.mark.parametrize(("seed", "fewest"), [(1, 4), (6, 2), (32, 4)])
def test_a_row_that_turns_both_forms_leaves_nothing_undecided(seed: int, fewest: int) -> None:
    pytest.importorskip("formulaic")
    found = qs.audit("y ~ 1 + [x ~ z]", data=both_forms(80, seed), n_jobs=1)
    assert (found.lower, found.upper) == (fewest, fewest)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pyfixest with the newest pandas
def test_pyfixest_s_syntax_is_the_same_regression():
    pf = pytest.importorskip("pyfixest")
    frame = qs.datasets.load("colonial-origins").to_frame()
    formula = "log_gdp ~ latitude | expropriation_risk ~ log_mortality"
    fitted = pf.feols(formula, frame, vcov="HC1")
    found = qs.audit(formula, data=frame, claim="significance", vcov="HC1", n_jobs=1)
    assert found.before.slope == pytest.approx(fitted.coef()["expropriation_risk"])
    assert found.before.p_value == pytest.approx(fitted.pvalue()["expropriation_risk"])
    assert (found.lower, found.upper) == (5, 5)
    assert "No set of 4 rows does (all 635,376 were refitted)." in found.message


def test_the_anderson_rubin_test_is_that_of_the_instrument_in_the_reduced_form():
    pytest.importorskip("formulaic")
    frame = qs.datasets.load("colonial-origins").to_frame()
    formula = "log_gdp ~ latitude + [expropriation_risk ~ log_mortality]"
    found = qs.audit(formula, data=frame, claim="significance", vcov="anderson-rubin")
    same = qs.audit("log_gdp ~ latitude + log_mortality", data=frame, term="log_mortality",
                    claim="significance")  # fmt: skip
    assert (found.lower, found.upper) == (same.lower, same.upper)
    assert "Anderson-Rubin test" in found.message


@pytest.mark.parametrize(
    ("formula", "more", "said"),
    [
        ("y ~ w + [x ~ w]", {}, "the instrument 'w' is in the regression itself"),
        ("y ~ [x ~ w + z]", {}, "one instrument is supported; got w, z"),
        ("y ~ [x ~ w] + [v ~ z]", {}, "one part of fixed effects and one of instruments"),
        (
            "y ~ w + [x ~ z]",
            {"term": "w"},
            "regression with instruments is 'x'; got 'w'",
        ),
        ("y ~ w + [x ~ z]", {"claim": "r2", "threshold": 0.5}, "got 'r2'"),
        (
            "y ~ w + [x ~ z]",
            {"claim": "significance", "vcov": "HC3"},
            "HC3 standard errors are for",
        ),
        ("y ~ w + [x ~ z]", {"proof": True}, "an instrument"),
        ("y ~ w + x", {"term": "x", "vcov": "anderson-rubin"}, "a test of an instrumented term"),
        ("y ~ w + x", {"term": "q"}, "no term 'q' in the regression"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(formula, more, said):
    pytest.importorskip("formulaic")
    rng = np.random.default_rng(0)
    frame = {name: rng.normal(size=20) for name in "ywxzv"}
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        qs.audit(formula, data=frame, **more)
    assert "\n" not in str(refused.value)


def test_one_cluster_has_no_test():
    x, y, _ = some(1)
    with pytest.raises(ValueError, match="clustered by the labels given need two clusters; got 1"):
        qs.audit(x, y, vcov=np.zeros(30, dtype=int), claim="significance")


@pytest.mark.parametrize("seed", range(8))
def test_a_cluster_for_every_row_is_tested_as_statsmodels_does(seed):
    """HC1 with one degree of freedom fewer than there are rows."""
    n = 16
    x, y, z = some(seed, n, slope=0.5)

    def p_value(rows):
        columns = np.column_stack([x, np.ones(n), z])[rows]
        how = {"groups": np.arange(len(rows)), "use_correction": True}
        fitted = sm.OLS(y[rows], columns).fit(cov_type="cluster", cov_kwds=how, use_t=True)
        return fitted.pvalues[0]

    everyone = np.arange(n)
    significant = p_value(everyone) <= 0.05
    fewest = next(
        (
            m
            for m in (1, 2, 3)
            for gone in combinations(range(n), m)
            if (p_value(np.delete(everyone, gone)) <= 0.05) != significant
        ),
        None,
    )
    found = qs.audit(x, y, controls=z, vcov=everyone, claim="significance", max_drop=3, n_jobs=1)
    assert found.before.p_value == pytest.approx(p_value(everyone), rel=1e-9)
    assert found.status == ("robust" if fewest is None else "optimal")
    assert found.upper == fewest


@pytest.mark.parametrize("more", [{}, {"claim": "significance", "vcov": "anderson-rubin"}])
@pytest.mark.parametrize("made", [lambda w: 2 * w + 1, lambda w: 0.1 * w + 0.3, np.ones_like])
def test_an_instrument_that_the_controls_explain_is_refused(made, more):
    pytest.importorskip("formulaic")
    y, x, w = np.random.default_rng(0).normal(size=(3, 40))
    frame = {"y": y, "x": x, "w": w, "z": made(w)}
    with pytest.raises(ValueError, match="the controls explain the instrument z on all rows"):
        qs.audit("y ~ w + [x ~ z]", data=frame, **more)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_a_logistic_or_poisson_regression_is_audited_as_statsmodels_fits_it(link):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(40, 1))
    x = rng.normal(size=40)
    eta = 0.5 * x + 0.5 * z[:, 0]
    y = rng.poisson(np.exp(eta)).astype(float)
    if link == "logit":
        y = (rng.uniform(size=40) < 1 / (1 + np.exp(-eta))).astype(float)
    fitted = naive_estimating.maximum(link, y, np.column_stack([x, np.ones(40), z]))
    found = qs.audit(fitted, term="x1", claim="sign", n_jobs=1, time_limit=1)
    assert found.before.slope == pytest.approx(fitted.params[0], rel=1e-6)
    assert found.before.p_value == pytest.approx(fitted.pvalues[0], rel=1e-6)
    assert found.after.slope * found.before.slope < 0
    tested = qs.audit(fitted, term="x1", claim="significance", max_drop=2, n_jobs=1)
    case = Instance(x, y, z, "classical", link=link)
    assert tested.success
    assert tested.drop == naive_estimating.fewest(case, 2)


def test_boxes_prove_the_sign_of_a_logistic_regression_that_no_enumeration_could():
    rng = np.random.default_rng(300)
    x = rng.normal(size=300)
    y = (rng.uniform(size=300) < 1 / (1 + np.exp(-0.3 * x))).astype(float)
    fitted = naive_estimating.maximum("logit", y, np.column_stack([x, np.ones(300)]))
    found = qs.audit(fitted, term="x1", claim="sign", n_jobs=1)
    assert found.success
    assert found.drop > 10
    kept = np.flatnonzero(found.mask)
    without = naive_estimating.maximum("logit", y[kept], np.column_stack([x, np.ones(300)])[kept])
    assert without.params[0] * fitted.params[0] < 0


@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_a_fit_far_from_where_it_starts_is_found(link):
    """Many rows and a rare outcome, or large counts: hundreds of standard errors from zero."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=40_000)
    eta = 0.3 * x - 6 if link == "logit" else 0.3 * x + 5
    y = rng.random(len(x)) < 1 / (1 + np.exp(-eta)) if link == "logit" else rng.poisson(np.exp(eta))
    design = sm.add_constant(x)
    model = sm.Logit(y * 1.0, design) if link == "logit" else sm.Poisson(y, design)
    fitted = model.fit(disp=0)
    found = qs.audit(fitted, term="x1", claim="sign", time_limit=0.5)
    assert found.before.slope == pytest.approx(fitted.params[1], rel=1e-6)
    assert found.before.se == pytest.approx(fitted.bse[1], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_the_fits_of_all_subsets_are_in_the_box_that_is_searched(link, monkeypatch):
    rng = np.random.default_rng(21)
    x, z = rng.normal(size=40), rng.normal(size=(40, 1))
    eta = 0.8 * x + 0.5 * z[:, 0]
    y = rng.poisson(np.exp(eta)).astype(float)
    if link == "logit":
        y = (rng.uniform(size=40) < 1 / (1 + np.exp(-eta))).astype(float)
    asked = []
    fitted = naive_estimating.maximum(link, y, np.column_stack([x, np.ones(40), z]))
    with fuzz_estimating.without_listing():
        decide = _core.decide_likelihood

        def boxes(*columns, **settings):
            asked.append((columns, settings))
            return decide(*columns, **settings)

        with monkeypatch.context() as inside:
            inside.setattr(_core, "decide_likelihood", boxes)
            qs.audit(fitted, term="x1", max_drop=2, n_jobs=1, time_limit=5)
    (_, columns, *_), settings = next(a for a in asked if a[1]["most"] == 2)
    family = sm.families.Binomial() if link == "logit" else sm.families.Poisson()
    far = []
    for gone in combinations(range(40), 2):
        kept = np.delete(np.arange(40), gone)
        model = sm.GLM(y[kept], columns[kept, :-2], family=family, offset=columns[kept, -1])
        far.append(np.abs(model.fit().params).max())
    assert 0.3 * settings["radius"] < max(far) < settings["radius"]


def test_a_penalised_fit_of_a_separated_table_is_refused():
    x = np.arange(20.0)
    model = sm.Logit((x > 9).astype(float), np.column_stack([x, np.ones(20)]))
    with pytest.raises(TypeError, match="penalised and have no such standard errors"):
        qs.audit(model.fit_regularized(disp=0), term="x1")


def test_scores_that_cancel_leave_no_test():
    """Without clusters 3 and 4 the sums of all scores are zero, and doubles leave 1e-16 of them."""
    x = [1.0, 0, 2, 0, 3, 1, 2, 0, 1, 1]
    y = [-4.0, -15, 1, 0, 2, -10, 0, -14, -15, 2]
    z = [1.0, 3, 0, 0, 0, 2, 0, 3, 3, 0]
    clusters = np.arange(10) % 5
    found = qs.audit(
        x, y, controls=z, groups=clusters, vcov=clusters, claim="significance", max_drop=2
    )
    assert (found.upper, found.lower, found.status) == (None, 3, "robust")
