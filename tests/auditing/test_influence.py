"""How far removals can move a result, against every subset; and the approximations."""

from __future__ import annotations

from itertools import combinations

import naive_audit
import numpy as np
import pytest
import statsmodels.api as sm
from families import FAMILIES
from naive import centred_sums, exact

import quadsweep as qs
from quadsweep.auditing.approximations import GREEDY, IN_ORDER, ONE_STEP

CLOSE = 3e-6


def ranges_by_listing(x, y, m):
    """Slope, r and R2 over every removal of up to m points."""
    found = {"slope": [], "r": [], "r2": []}
    n = len(x)
    for k in range(n - m, n + 1):
        for kept in combinations(range(n), k):
            a, b, c = centred_sums(exact([x[i] for i in kept]), exact([y[i] for i in kept]))
            if a > 0:
                found["slope"].append(float(c / a))
            if a * b > 0:
                r2 = float(c * c / (a * b))
                found["r2"].append(r2)
                found["r"].append(np.sqrt(r2) * (1 if c > 0 else -1))
    return {name: (min(values), max(values)) for name, values in found.items()}


@pytest.mark.parametrize("family", ["uniform", "normal", "clustered", "duplicated", "lattice"])
def test_the_funnel_is_that_of_every_subset(family):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = FAMILIES[family](rng, 8)
        curve = qs.influence_curve(x, y, max_drop=3, n_jobs=1)
        assert curve.status == "optimal"
        scale = max(1.0, float(np.std(y) / np.std(x)))
        for m in range(4):
            for name, (low, high) in ranges_by_listing(x, y, m).items():
                unit = scale if name == "slope" else 1.0
                reach = getattr(curve, name)
                where = f"{family}, seed {seed}, m {m}, {name}"
                assert reach.high[m] == pytest.approx(high, abs=CLOSE * unit), where
                assert high <= reach.high_bound[m] + 1e-12 * unit, where
                assert reach.low_bound[m] - 1e-12 * unit <= low <= reach.low[m] + 1e-12, where
                if name != "r2" or reach.low_bound[m] > 0:
                    assert reach.low[m] == pytest.approx(low, abs=CLOSE * unit), where


def check_against_listing(x, y, most, note):
    curve = qs.influence_curve(x, y, max_drop=most, n_jobs=1)
    assert curve.status == "optimal", note
    scale = max(1.0, float(np.std(y) / np.std(x)))
    for m in range(most + 1):
        for name, (low, high) in ranges_by_listing(x, y, m).items():
            if name == "r2":
                continue
            unit = scale if name == "slope" else 1.0
            reach = getattr(curve, name)
            assert reach.high[m] == pytest.approx(high, abs=CLOSE * unit), note
            assert reach.low[m] == pytest.approx(low, abs=CLOSE * unit), note
            least, most_allowed = -1e-12 * unit, 20 * CLOSE * unit
            assert least <= reach.high_bound[m] - high <= most_allowed, note
            assert least <= low - reach.low_bound[m] <= most_allowed, note


def test_subsets_with_one_x_do_not_stand_in_the_way():
    x, y = [0, 1, 0, 0, 0, 1, 2], [0, 1, 2, 2, 1, 0, 1]
    check_against_listing(x, y, 3, "issue")
    curve = qs.influence_curve(x, y, max_drop=3)
    assert curve.slope.low[3] == pytest.approx(-5 / 3)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 3, (2, 7)).astype(float)
        if np.ptp(x) > 0 and np.ptp(y) > 0:
            check_against_listing(x, y, 3, f"seed {seed}")


def test_slopes_of_two_groups_are_bounded_where_one_group_alone_could_be_kept():
    rng = np.random.default_rng(0)
    x = (np.arange(60) < 12).astype(float)
    curve = qs.influence_curve(x, np.round(rng.normal(size=60), 1), max_drop=14)
    assert curve.status == "optimal"
    assert np.isfinite(curve.slope.low_bound).all()
    assert np.isfinite(curve.slope.high_bound).all()


def test_what_could_not_be_decided_is_not_called_optimal(monkeypatch):
    from quadsweep.auditing import climbing
    from quadsweep.auditing.oracles import UNDECIDED
    from quadsweep.auditing.oracles.plane import Plane

    monkeypatch.setattr(Plane, "steeper", lambda *_: UNDECIDED)
    monkeypatch.setattr(climbing, "_LISTED", 0)
    curve = qs.influence_curve([0, 1, 0, 0, 0, 1, 2], [0, 1, 2, 2, 1, 0, 1], max_drop=2)
    assert curve.slope.low_bound[2] == -np.inf
    assert curve.status == "undecided"


def test_the_funnel_widens():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    y = 0.5 * x + rng.normal(size=200)
    curve = qs.influence_curve(x, y)
    assert len(curve.m) == 11
    for name in ("slope", "r"):
        reach = getattr(curve, name)
        assert np.all(np.diff(reach.high) >= 0)
        assert np.all(np.diff(reach.low) <= 0)
    assert len(curve.rows()) == len(curve.table().splitlines()) - 1 == 11


def test_the_funnel_meets_zero_where_the_audit_says():
    rng = np.random.default_rng(4)
    x = rng.normal(size=120)
    y = 0.2 * x + rng.normal(size=120)
    drop = qs.audit(x, y).drop
    slope = qs.influence_curve(x, y, max_drop=drop).slope
    assert slope.low[drop] < 0 < slope.low_bound[drop - 1]


def test_a_stop_keeps_the_part_that_is_done():
    rng = np.random.default_rng(0)
    calls = []

    def after_a_while(*state):
        calls.append(state)
        return len(calls) < 30

    x, y = rng.normal(size=(2, 3000))
    curve = qs.influence_curve(x, y, max_drop=1000, progress=after_a_while)
    assert curve.status == "interrupted"
    assert 1 <= len(curve.m) < 1000


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
    curve = qs.influence_curve(x, y, max_drop=3)
    for statistic in ("slope", "r", "r2"):
        assert curve.plot(statistic=statistic).lines
    with pytest.raises(ValueError, match="statistic must be one of slope, r, r2"):
        curve.plot(statistic="mean")
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
    with pytest.raises(ValueError, match="influence_curve is for least squares; got a"):
        qs.influence_curve(*given, **named, max_drop=1)


def test_no_number_is_predicted_where_influences_are_not_on_the_statistic():
    robust = (("y ~ x", other_models()[0][0][1]), {"vcov": "HC1", "claim": "significance"})
    for given, named in [*other_models(), robust]:
        audit = qs.audit(*given, **named, time_limit=6)
        in_order, greedy = audit.approximations
        assert (in_order.method, greedy.method) == (IN_ORDER, GREEDY)
        assert in_order.predicted is None
        assert in_order.needed >= audit.upper
        assert in_order.verdict(audit.lower, audit.upper).startswith("needs ")
