"""Stability: counts over resamples, and every subset that comes near."""

import json
from dataclasses import replace

import naive
import numpy as np
import pytest
from families import FAMILIES
from matplotlib.figure import Figure

import quadsweep as qs


def tight_pairs(rng, n):
    """Values that nearly agree beside one far away."""
    x = rng.choice([0.0, 1e-3, 1.0], n)
    x[rng.integers(n)] = 63.0
    return x, rng.choice([1.0, 2.0, 2.0], n)


def few_values(rng, n):
    return rng.integers(0, 3, (2, n)).astype(float)


def ties_beside_a_constant_column(rng, n):
    """One column constant on all or all but one of the points."""
    x, y = rng.integers(0, 4, n).astype(float), np.full(n, 2.0)
    y[: rng.integers(2)] = 3.0
    return (x, y) if rng.integers(2) else (y, x)


def on_two_scales(rng, n):
    x, y = rng.integers(0, 4, (2, n)) * rng.choice([1.0, 1e5], (2, 1))
    return x + 1e6 * rng.integers(2), y


def quarters(rng, n):
    """Values with few digits: a margin of 1/4 is then met exactly now and then."""
    return rng.integers(0, 5, (2, n)) / 4.0


TIED = {
    f.__name__: f
    for f in (tight_pairs, few_values, ties_beside_a_constant_column, on_two_scales, quarters)
}


def check_against_the_definition(x, y, k, objective, margin, note):
    answer = qs.stability(
        x, y, k, objective=objective, margin=margin, most=10_000, resamples=1, n_jobs=1
    )
    best = answer.result.inliers.tolist()
    expected = naive.near_optimal(x, y, k, objective, best, margin)
    assert answer.complete, note
    assert answer.near[0].tolist() == best, note
    assert {tuple(s.tolist()) for s in answer.near} == expected, note
    needed = set.intersection(*map(set, expected))
    assert set(np.flatnonzero(answer.needed).tolist()) == needed, note
    disputed = set.union(*map(set, expected)) - needed
    assert set(np.flatnonzero(answer.disputed).tolist()) == disputed, note


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
@pytest.mark.parametrize("family", ["uniform", "normal", "lattice", "duplicated"])
def test_near_optimal_subsets_are_those_of_the_definition(family, objective):
    x, y = FAMILIES[family](np.random.default_rng(4), 9)
    check_against_the_definition(x, y, 6, objective, 0.05, family)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
@pytest.mark.parametrize("family", TIED)
def test_near_optimal_subsets_are_complete_where_many_tie(family, objective):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 9))
        k = int(rng.integers(3, n))
        x, y = TIED[family](rng, n)
        if naive.exhaustive(x, y, k, objective) is None:
            continue
        margin = float(rng.choice([0.0, 0.01, 0.25, 0.5]))
        note = f"{family}, {objective}, seed {seed}, k {k}, margin {margin}"
        check_against_the_definition(x, y, k, objective, margin, note)


@pytest.mark.parametrize(
    ("x", "y", "k", "objective", "margin"),
    [
        ([0, 1, 2, 3, 10], [0] * 5, 3, "tv", 0.01),
        ([0, 1, 2, 1], [2, 1, 1, 1], 3, "lts", 0.0),
        ([63, 0.001, 0, 0.001, 0], [1, 2, 2, 2, 2], 2, "tv", 0.01),
        ([0, 1, 2, 3, 10], [0] * 5, 3, "cov", 0.01),
        ([0, 1, 2, 3, 10], [0] * 5, 3, "dv", 0.01),
    ],
)
def test_ties_on_a_constant_column_are_not_missed(x, y, k, objective, margin):
    check_against_the_definition(x, y, k, objective, margin, "")


def test_a_short_list_says_that_it_is_short():
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    answer = qs.stability(x, y, 12, margin=0.6, most=15, resamples=2)
    assert len(answer.near) == 15
    assert not answer.complete
    assert "at least 15" in answer.summary()


def test_frequencies_are_those_of_resampled_solves():
    x, y = np.random.default_rng(1).normal(size=(2, 12))
    answer = qs.stability(x, y, 8, resamples=7, seed=3)
    rng = np.random.default_rng(3)
    drawn, gone = np.zeros(12), np.zeros(12)
    for chosen in rng.integers(0, 12, size=(7, 12)):
        copies = int(np.isin(chosen, answer.result.outliers).sum())
        result = qs.solve(x[chosen], y[chosen], 12 - copies)
        np.add.at(drawn, chosen, 1)
        np.add.at(gone, chosen[result.outliers], 1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(answer.dropped, gone / drawn)


def test_the_jackknife_leaves_out_each_point_once():
    x, y = np.random.default_rng(2).normal(size=(2, 10))
    answer = qs.stability(x, y, 7, resample="jackknife")
    gone = np.zeros(10)
    for i in range(10):
        others = np.delete(np.arange(10), i)
        gone[others[qs.solve(x[others], y[others], 6).outliers]] += 1
    assert answer.resamples == 10
    np.testing.assert_allclose(answer.dropped, gone / 9)


def test_a_gross_outlier_is_always_out_and_nothing_is_disputed():
    x = np.arange(20.0)
    y = x + 0.1 * np.random.default_rng(0).normal(size=20)
    y[7] = 90
    answer = qs.stability(x, y, drop=1, resamples=40)
    assert answer.dropped[7] > 0.5  # of several copies, all but one must stay
    assert np.delete(answer.dropped, 7).max() < 0.25
    assert len(answer.near) == 1
    assert answer.complete
    assert not answer.disputed.any()
    assert answer.needed.sum() == 19


def test_does_not_depend_on_the_number_of_threads():
    x, y = np.random.default_rng(5).uniform(size=(2, 25))
    one, two = (qs.stability(x, y, 18, resamples=30, most=50, n_jobs=j) for j in (1, 3))
    np.testing.assert_array_equal(one.dropped, two.dropped)
    assert [s.tolist() for s in one.near] == [s.tolist() for s in two.near]


def test_rows_left_out_have_no_frequency():
    x, y = np.random.default_rng(6).uniform(size=(2, 15))
    y[4] = np.nan
    answer = qs.stability(x, y, 10, nan_policy="omit", resamples=20)
    assert np.isnan(answer.dropped[4])
    assert np.isfinite(np.delete(answer.dropped, 4)).all()
    assert all(4 not in s for s in answer.near)


def test_limits_keep_what_is_finished():
    x, y = np.random.default_rng(7).uniform(size=(2, 60))
    stopped = qs.stability(x, y, 40, resamples=500, progress=lambda done, *_: done < 10)
    assert stopped.status == "interrupted"
    assert 10 <= stopped.resamples < 500
    assert "stopped" in stopped.summary()
    none = qs.stability(x, y, 40, time_limit=0)
    assert none.status == "time_limit"
    assert none.resamples == 0
    assert not none.complete
    json.dumps(none.to_dict())


def test_bootstraps_of_few_distinct_points_do_no_harm():
    answer = qs.stability([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], 4, resamples=60)
    assert answer.status == "finished"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"resample": "split"}, ValueError, "resample must be 'bootstrap' or 'jackknife'"),
        ({"resamples": 0}, ValueError, "resamples must be at least 1"),
        ({"most": 0}, ValueError, "most must be at least 1"),
        ({"margin": -1}, ValueError, "margin must be a number in"),
        ({"objective": "var"}, ValueError, "'var' uses x alone"),
        ({"k": 9}, ValueError, "keeps 9 of 4 points"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, error, says):
    with pytest.raises(error, match=says):
        qs.stability([1, 2, 3, 4], [1, 2, 4, 3], **{"k": 3, **options})


def test_it_tells_itself_as_text_html_json_frame_and_picture():
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    answer = qs.stability(x, y, 15, resamples=10, most=10, margin=0.1)
    assert "unclear" in answer.summary()
    assert answer._repr_html_().startswith("<table>")
    assert json.loads(json.dumps(answer.to_dict()))["resamples"] == 10
    assert len(answer.to_frame()) == 20
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    ax.figure.canvas.draw()


def test_the_margin_shrinks_with_n_so_that_a_large_table_is_not_all_in_dispute():
    rng = np.random.default_rng(4)
    disputed = {}
    for n in (40, 1000):
        x = rng.normal(size=n)
        y = x + 0.5 * rng.normal(size=n)
        y[:3] += 2
        fixed = qs.stability(x, y, drop=3, resamples=1, margin=0.01, most=30)
        own = qs.stability(x, y, drop=3, resamples=1, most=30)
        disputed[n] = int(fixed.disputed.sum()), int(own.disputed.sum())
        assert own.margin == pytest.approx((1 - own.result.value) / own.result.value / n)
    assert disputed[1000][0] >= 30
    assert disputed[1000][1] < 5


def test_the_margin_is_never_above_a_hundredth():
    x, y = np.random.default_rng(5).normal(size=(2, 12))
    assert qs.stability(x, y, drop=1, resamples=1).margin == 0.01
    assert qs.stability(x, y, drop=4, resamples=1, objective="lts").margin == 0.01


def test_nearly_always_is_not_called_always():
    answer = qs.stability([1, 2, 3, 4, 5, 6], [1, 2.1, 9, 4, 5.1, 6], drop=1, resamples=5)
    share = answer.dropped.copy()
    out = answer.result.outliers[0]
    share[out] = 0.94
    lines = dict(replace(answer, dropped=share).summary_items())
    assert lines["always out"] == "none"
    assert lines["nearly always"].startswith(f"row {out} (numbered from 0; over 90%")
    share[out] = 1.0
    lines = dict(replace(answer, dropped=share).summary_items())
    assert lines["always out"] == f"row {out} (numbered from 0)"
    assert lines["nearly always"].startswith("none")


def test_subsets_that_come_near_are_counted_in_words():
    x, y = np.arange(9.0), np.array([0.0, 1, 2, 9, 4, 5.5, 6, 7, 8])
    alone = qs.stability(x, y, drop=1, resamples=5, margin=0.01)
    assert "no other subset within 1% of the best value" in alone.summary()
    many = qs.stability(x, y, drop=1, resamples=5, margin=0.5)
    assert f"{len(many.near)} subsets within 50% of the best value" in many.summary()


def test_gross_outliers_are_out_however_often_they_are_drawn():
    """Two copies of one do not keep another: the number dropped goes with the copies drawn."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = x + 0.3 * rng.normal(size=40)
    x[:3], y[:3] = [-2.0, 0.5, 2.0], [9.0, -9.0, -8.0]
    steady = qs.stability(x, y, drop=3, objective="lts", resamples=100)
    assert steady.dropped[:3].min() > 0.95
    assert steady.dropped[3:].max() < 0.05
    assert len(steady.unclear) == 0


def test_a_bootstrap_drops_as_many_as_it_has_copies_of_the_outliers():
    x, y = np.arange(12.0), np.arange(12.0) + np.tile([0, 0.3, -0.3], 4)
    y[5] = 30
    expected = np.random.default_rng(0).integers(0, 12, size=(50, 12))
    copies = (expected == 5).sum()
    steady = qs.stability(x, y, drop=1, objective="lts", resamples=50)
    drawn = np.bincount(expected.ravel(), minlength=12)
    assert round(float(np.nansum(steady.dropped * drawn))) == copies
    assert steady.dropped[5] == 1
