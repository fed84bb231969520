"""The usual approximations beside the answer, and the picture of each row's influence."""

from __future__ import annotations

import naive_audit
import numpy as np
import pytest
import statsmodels.api as sm

import quadsweep as qs
from quadsweep.auditing.approximations import GREEDY, IN_ORDER, ONE_STEP


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
    robust = (("y ~ x", other_models()[0][0][1]), {"vcov": "HC1", "claim": "significance"})
    for given, named in [*other_models(), robust]:
        audit = qs.audit(*given, **named, time_limit=6)
        in_order, greedy = audit.approximations
        assert (in_order.method, greedy.method) == (IN_ORDER, GREEDY)
        assert in_order.predicted is None
        assert in_order.needed >= audit.upper
        assert in_order.verdict(audit.lower, audit.upper).startswith("needs ")
