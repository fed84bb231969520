"""The usual approximations beside the answer, and the picture of each row's influence."""

from __future__ import annotations

import naive_audit
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import quadsweep as qs
from quadsweep.auditing.approximations import GREEDY, IN_ORDER, ONE_STEP
from quadsweep.auditing.controls.robust import RobustProblem, fit_term


def test_approximations_are_counted_by_what_they_really_need():
    rng = np.random.default_rng(6)
    for claim in ("sign", "significance", "reverse"):
        x = rng.normal(size=150)
        y = 0.25 * x + rng.normal(size=150)
        found = qs.audit(x, y, claim=claim)
        one_step, greedy = found.approximations
        assert (one_step.method, greedy.method) == (ONE_STEP, GREEDY)
        for tried in (one_step, greedy):
            assert tried.needed is None or tried.needed >= found.drop
            assert tried.verdict(found.lower, found.upper) in found.summary()


def test_pictures_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    x = [1, 2, 3, 4, 5, 6, 20]
    y = [6, 5, 4, 3, 2, 1, 20]
    ax = qs.audit(x, y).plot()
    assert "reverses the sign" in ax.get_title(loc="left")
    ax = qs.audit(x, y).plot(view="influence")
    assert ax.get_yticklabels()[0].get_text() == "6"
    assert "reverses the sign" in ax.get_title(loc="left")
    with pytest.raises(ValueError, match="view must be 'data' or 'influence'; got 'rows'"):
        qs.audit(x, y).plot(view="rows")
    plt.close("all")


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("masking-groups", 4),
        pytest.param("masking-populations", 6, marks=pytest.mark.slow),
        ("masking-leverage", 3),
    ],
)
def test_masked_rows_are_found_where_the_approximations_fail(name, least):
    data = qs.datasets.load(name)
    found = qs.audit(data.x, data.y)
    assert found.drop == least == len(data.x) - data.k
    condition = naive_audit.broken("sign", data.x, data.y, 0.05, None, found.tol)
    assert naive_audit.audit(data.x, data.y, least, condition) == least
    for tried in found.approximations:
        assert tried.needed is None or tried.needed > least


def other_models():
    """An instrumented term and a logistic regression, as arguments of audit."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 30))
    frame = {"x": x + z, "z": z, "y": x + z + rng.normal(size=30)}
    outcome = (rng.random(30) < 1 / (1 + np.exp(-x))).astype(float)
    logit = sm.Logit(outcome, sm.add_constant(x)).fit(disp=0)
    return [(("y ~ [x ~ z]", frame), {}), ((logit,), {"term": "x1"})]


@pytest.mark.parametrize("model", other_models())
def test_what_only_least_squares_has_is_refused_for_others(model):
    given, named = model
    audit = qs.audit(*given, **named)
    with pytest.raises(ValueError, match="a reference is for least squares; got a"):
        audit.reference(draws=2)


def test_no_number_is_predicted_where_influences_are_not_on_the_statistic():
    for given, named in other_models():
        audit = qs.audit(*given, **named, time_limit=6)
        in_order, greedy = audit.approximations
        assert (in_order.method, greedy.method) == (IN_ORDER, GREEDY)
        assert in_order.predicted is None
        assert in_order.needed >= audit.upper
        assert in_order.verdict(audit.lower, audit.upper).startswith("needs ")


ROBUST = {
    "HC1": ("y ~ x + z", {"vcov": "HC1"}),
    "HC3": ("y ~ x + z", {"vcov": "HC3"}),
    "clusters": ("y ~ x + z | g", {"vcov": {"CRV1": "g"}}),
    "whole clusters": ("y ~ x + z", {"vcov": {"CRV1": "g"}, "groups": "g"}),
    "instrument": ("y ~ z + [x ~ v]", {"vcov": {"CRV1": "g"}}),
}


@pytest.mark.parametrize("kind", ROBUST)
def test_influence_on_a_robust_test_is_its_change_to_first_order(kind):
    rng, n = np.random.default_rng(1), 1_200
    x, z, v = rng.normal(size=(3, n))
    g = np.arange(n) % 40
    x += 0.4 * z + v
    y = 0.12 * x + z + rng.normal(size=n) * (1 + abs(x)) + rng.normal(size=40)[g]
    frame = pd.DataFrame({"y": y, "x": x, "z": z, "v": v, "g": g})
    text, named = ROBUST[kind]
    audit = qs.audit(text, frame, term="x", claim="significance", time_limit=2, **named)
    case = next(p for p in audit.problems if isinstance(p, RobustProblem))
    effect, start = case.influence_on_test()
    design = case.regression or case.moments.design
    full = fit_term(design, np.arange(n), case.errors)
    critical, side = case.test.critical[full.freedom], -1 if case.test.side == 0 else 1

    def end(units):
        found = fit_term(design, design.kept(np.array(units, dtype=int)), case.errors)
        return side * (case.condition.sign * found.slope - critical * found.se)

    assert start == pytest.approx(end([]), rel=1e-9)
    some = np.argsort(-abs(effect))[:5]
    changes = np.array([end([unit]) - start for unit in some])
    assert effect[some] == pytest.approx(changes, abs=0.12 * abs(changes).max())
    one_step = audit.approximations[0]
    assert one_step.method == ONE_STEP
    assert one_step.predicted is not None
    assert one_step.needed is None or one_step.needed >= audit.upper
