"""Intervals that allow for the choosing, and the textbook one that does not."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import linregress, t

import quadsweep as qs


def noisy_line(seed, n=40):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + rng.normal(size=n)


def by_hand(x, y, k, draws, seed, objective):
    """One draw after the other: draw rows, choose, fit."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(draws):
        rows = rng.integers(0, len(x), size=len(x))
        kept = rows[qs.solve(x[rows], y[rows], k, objective=objective).inliers]
        lines.append(np.polyfit(x[kept], y[kept], 1))
    return np.array(lines)


@pytest.mark.parametrize("objective", ["r2", "lts", "cov"])
def test_every_draw_is_chosen_anew_and_fitted(objective):
    x, y = noisy_line(3, 15)
    found = qs.solve(x, y, 12, objective=objective).bootstrap(20, seed=5)
    expected = by_hand(x, y, 12, 20, 5, objective)
    assert np.allclose(np.column_stack([found.slope, found.intercept]), expected)
    assert found.standard_error() == pytest.approx(expected[:, 0].std(ddof=1))
    assert found.interval("intercept", 0.8) == pytest.approx(
        np.quantile(expected[:, 1], [0.1, 0.9]).tolist()
    )


def textbook_interval(result):
    """That of the slope of the kept points, as if nobody had chosen them."""
    line = linregress(result.x[result.inliers], result.y[result.inliers])
    reach = t.ppf(0.975, result.k - 2) * line.stderr
    return line.slope - reach, line.slope + reach


@pytest.mark.slow
def test_intervals_that_allow_for_the_choosing_cover_and_the_textbook_ones_do_not():
    runs = 60
    honest = naive = 0
    for seed in range(runs):
        result = qs.solve(*noisy_line(seed), drop=8, objective="lts")
        low, high = result.bootstrap(99).interval()
        honest += low <= 1 <= high
        low, high = textbook_interval(result)
        naive += low <= 1 <= high
    assert honest >= 0.88 * runs, honest
    assert naive <= 0.8 * runs, naive


def test_with_nothing_dropped_it_is_about_the_usual_interval():
    x, y = noisy_line(1, 200)
    drawn = qs.solve(x, y, drop=0, objective="lts").bootstrap(400)
    assert drawn.interval() == pytest.approx(textbook_interval(drawn.result), abs=0.05)


def test_bands_hold_the_line_and_rows_like_those_kept():
    x, y = noisy_line(7, 150)
    drawn = qs.solve(x, y, drop=10, objective="lts").bootstrap(300)
    at = np.linspace(-2, 2, 9)
    narrow, wide = drawn.confidence_band(at), drawn.prediction_band(at)
    assert np.all((narrow.low < narrow.line) & (narrow.line < narrow.high))
    assert np.all((wide.low < narrow.low) & (narrow.high < wide.high))
    assert np.argmin(narrow.high - narrow.low) in (3, 4, 5)
    kept = drawn.result.inliers
    band = drawn.prediction_band(x[kept])
    share = np.mean((band.low <= y[kept]) & (y[kept] <= band.high))
    assert 0.9 < share <= 1


def test_draws_do_not_depend_on_the_number_of_threads():
    x, y = noisy_line(4)
    result = qs.solve(x, y, drop=4)
    one, two = (result.bootstrap(30, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.slope, two.slope)


def test_rows_with_missing_values_are_left_out():
    x, y = noisy_line(4)
    with_gap = qs.solve(np.append(x, np.nan), np.append(y, 1.0), drop=4, nan_policy="omit")
    assert np.array_equal(with_gap.bootstrap(9).slope, qs.solve(x, y, drop=4).bootstrap(9).slope)


def test_what_was_drawn_has_a_summary():
    drawn = qs.solve(*noisy_line(5), drop=4).bootstrap(49)
    assert "standard error" in drawn.summary()
    assert json.loads(json.dumps(drawn.to_dict()))["slope"]["interval"][0] < 1.5
    assert len(drawn.to_frame()) == 49
    axes = Figure().subplots()
    assert drawn.plot(ax=axes) is axes
    axes.figure.canvas.draw()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.bootstrap(1), "resamples"),
        (lambda r: r.bootstrap(5).interval("slop"), "'slope' or 'intercept'; got 'slop'"),
        (lambda r: r.bootstrap(5).interval(level=95), "level must be between 0 and 1; got 95"),
        (lambda r: replace(r.bootstrap(5), resamples=1).interval(), "at least 2 draws"),
    ],
)
def test_what_cannot_be_asked_is_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(qs.solve(*noisy_line(5, 12), drop=2))


def test_a_variance_has_no_line():
    with pytest.raises(ValueError, match="got 'var'"):
        qs.solve([1, 2, 3, 9], k=3, objective="var").bootstrap(5)
