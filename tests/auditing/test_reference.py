"""Clean regressions of the same strength: drawn as said, audited exactly, counted with ties."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.reference import ERRORS, _scale, outcomes, redrawn


def regression(x, y, z):
    columns = np.column_stack([x, z])
    coefficients = np.linalg.lstsq(columns, y, rcond=None)[0]
    rest = y - columns @ coefficients
    return coefficients, rest @ rest


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("seed", range(5))
def test_draws_have_the_coefficients_and_the_residual_variance_of_the_data(errors, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    z = np.column_stack([np.ones(n), rng.normal(size=(n, 2)), np.arange(n) == 0])  # a row fitted
    x = rng.normal(size=n) if seed % 2 else (rng.random(n) < 0.4) + 0.0
    y = rng.normal(size=n) + x
    drawing = outcomes(x, y, z, errors, rng)
    before, spread = regression(x, y, z)
    seen = [next(drawing) for _ in range(3)]
    assert not np.allclose(seen[0], seen[1])
    for drawn in seen:
        after, others = regression(x, drawn, z)
        np.testing.assert_allclose(after, before, atol=1e-9)
        assert others == pytest.approx(spread)


def test_normal_draws_are_spread_evenly_over_the_space_of_residuals():
    rng = np.random.default_rng(5)
    n = 6
    x, y, z = rng.normal(size=n), rng.normal(size=n), np.ones((n, 1))
    drawing = outcomes(x, y, z, "normal", rng)
    columns = np.column_stack([x, z])
    left = np.eye(n) - columns @ np.linalg.pinv(columns)
    rest = left @ np.array([next(drawing) for _ in range(4000)]).T
    rest /= np.linalg.norm(rest, axis=0)
    np.testing.assert_allclose(rest @ rest.T / 4000, left / (n - 2), atol=0.02)


def test_sizes_of_errors_follow_the_term_where_they_do_in_the_data():
    rng = np.random.default_rng(1)
    n = 400
    x, z = rng.normal(size=n), np.ones((n, 1))
    y = x + np.exp(x) * rng.normal(size=n)
    far, near = x > 1, x < -1

    def ratio(errors):
        drawing = outcomes(x, y, z, errors, np.random.default_rng(2))
        drawn = np.array([next(drawing) for _ in range(50)]) - np.polyval(np.polyfit(x, y, 1), x)
        return np.abs(drawn[:, far]).mean() / np.abs(drawn[:, near]).mean()

    assert ratio("permuted") < 1.5
    assert 8 < ratio("heteroskedastic") < 40  # exp of 2.9, the distance of the two means of x


def test_draws_have_the_trend_of_sizes_that_the_data_have():
    away = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 60
        x, z = rng.normal(size=n), np.ones((n, 1))
        y = x / 2 + rng.normal(size=n)
        q = np.linalg.qr(np.column_stack([z, x]))[0]

        def trend(v, x=x, q=q):
            rest = (v - q @ (q.T @ v)) / np.sqrt(1 - (q * q).sum(axis=1))
            return np.log(_scale(x - x.mean(), rest))

        drawing = outcomes(x, y, z, "heteroskedastic", rng)
        away += [np.std(trend(next(drawing)) - trend(y)) for _ in range(20)]
    assert np.mean(away) < 0.1  # 0.16 where the trend that permuting makes is left in


def fewest_to_flip(x, y):
    """By trying every removal."""
    n, sign = len(x), np.sign(np.cov(x, y)[0, 1])
    for m in range(1, n - 2):
        for gone in itertools.combinations(range(n), m):
            kept = np.delete(np.arange(n), gone)
            if sign * np.cov(x[kept], y[kept])[0, 1] < -1e-9:
                return m
    return None


@pytest.mark.parametrize("controlled", [False, True])
def test_every_draw_is_audited_exactly(controlled):
    rng = np.random.default_rng(4)
    x = rng.normal(size=9)
    y = x + rng.normal(size=9)
    audit = qs.audit(x, y, controls=np.ones(9)) if controlled else qs.audit(x, y)
    answer = audit.reference(8, seed=3, errors="permuted")
    drawing = outcomes(x, y, np.ones((9, 1)), "permuted", np.random.default_rng(3))
    counts = [fewest_to_flip(x, drawn) for drawn, _ in zip(drawing, range(8), strict=False)]
    assert [None if np.isnan(u) else int(u) for u in answer.upper] == counts
    assert answer.status == "optimal"


def test_weighted_draws_are_those_of_the_weighted_regression():
    rng = np.random.default_rng(8)
    x, weights = rng.normal(size=30), rng.uniform(0.2, 4, size=30)
    y = x + rng.normal(size=30) / np.sqrt(weights)
    audit = qs.audit(x, y, weights=weights)
    columns, audit_outcome = redrawn(audit)
    drawn = next(outcomes(*columns, "permuted", rng))
    assert audit_outcome(drawn, 10.0).before.slope == pytest.approx(audit.before.slope)
    assert audit_outcome(drawn, 10.0).before.se == pytest.approx(audit.before.se)


def test_half_of_the_ties_count_and_bounds_count_against():
    rng = np.random.default_rng(4)
    x = rng.normal(size=12)
    audit = qs.audit(x, x + rng.normal(size=12))
    m = audit.upper
    answer = audit.reference(3)
    lower = np.array([m - 1, m, m, m + 1.0])
    answer = replace(answer, lower=lower, upper=lower)
    assert answer.p_value == (0.5 + 1 + 0.5 * 2) / 5
    open_ended = replace(answer, upper=np.full(4, np.nan), lower=np.full(4, m - 1.0))
    assert open_ended.p_value == 4.5 / 5
    assert "or more rows" in open_ended.headline


def planted(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=50)
    x[:3] = 4
    return x, np.where(np.arange(50) < 3, 7.0, 0.2 * x + rng.normal(size=50))


def test_three_planted_rows_are_few():
    answer = qs.audit(*planted(0)).reference(39)
    low, high = answer.interval()
    assert answer.audit.upper < low < high
    assert answer.p_value < 0.05
    needs = f"needs {low:.0f} to {high:.0f} rows; this one needs {answer.audit.upper} "
    assert needs in answer.headline


def test_a_robust_claim_is_not_few():
    x = np.arange(12.0)
    audit = qs.audit(x, x + 0.1 * np.sin(x), max_drop=2)
    assert audit.upper is None
    assert audit.reference(3).p_value == 1


def test_limits_keep_what_was_drawn():
    audit = qs.audit(*planted(1))
    stopped = audit.reference(50, progress=lambda done, total, seconds: done < 4)
    assert (stopped.status, stopped.draws) == ("interrupted", 4)
    with pytest.raises(ValueError, match="no draw was audited"):
        audit.reference(50, time_limit=0)


def test_what_cannot_be_drawn_is_refused():
    x, y = planted(2)
    audit = qs.audit(x, y)
    with pytest.raises(ValueError, match="errors must be one of heteroskedastic, permuted, normal"):
        audit.reference(errors="wild")
    groups = np.arange(50) // 5
    with pytest.raises(ValueError, match="independent of each other; got groups or clusters"):
        qs.audit(x, y, groups=groups).reference()
    with pytest.raises(ValueError, match="independent of each other; got groups or clusters"):
        qs.audit(x, y, vcov=groups, claim="significance").reference()


def test_a_reference_explains_itself():
    answer = qs.audit(*planted(0)).reference(9, seed=1)
    content = json.loads(json.dumps(answer.to_dict()))
    assert content["p_value"] == answer.p_value
    assert len(answer.to_frame()) == 9
    assert answer.headline in str(answer)
    assert answer.plot().get_ylabel() == "draws"
    again = qs.audit(*planted(0)).reference(9, seed=1)
    np.testing.assert_array_equal(again.lower, answer.lower)
