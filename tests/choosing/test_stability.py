"""Stability: counts over resamples."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import quadsweep as qs


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


def test_a_gross_outlier_is_dropped_most():
    x = np.arange(20.0)
    y = x + 0.1 * np.random.default_rng(0).normal(size=20)
    y[7] = 90
    answer = qs.stability(x, y, drop=1, resamples=40)
    assert answer.dropped[7] > 0.5  # of several copies, all but one must stay
    assert np.delete(answer.dropped, 7).max() < 0.25


def test_does_not_depend_on_the_number_of_threads():
    x, y = np.random.default_rng(5).uniform(size=(2, 25))
    one, two = (qs.stability(x, y, 18, resamples=30, n_jobs=j) for j in (1, 3))
    np.testing.assert_array_equal(one.dropped, two.dropped)


def test_rows_left_out_have_no_frequency():
    x, y = np.random.default_rng(6).uniform(size=(2, 15))
    y[4] = np.nan
    answer = qs.stability(x, y, 10, nan_policy="omit", resamples=20)
    assert np.isnan(answer.dropped[4])
    assert np.isfinite(np.delete(answer.dropped, 4)).all()


def test_limits_keep_what_is_finished():
    x, y = np.random.default_rng(7).uniform(size=(2, 60))
    stopped = qs.stability(x, y, 40, resamples=500, progress=lambda done, *_: done < 10)
    assert stopped.status == "interrupted"
    assert 10 <= stopped.resamples < 500
    assert "stopped" in stopped.summary()
    none = qs.stability(x, y, 40, time_limit=0)
    assert none.status == "time_limit"
    assert none.resamples == 0
    json.dumps(none.to_dict())


def test_bootstraps_of_few_distinct_points_do_no_harm():
    answer = qs.stability([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], 4, resamples=60)
    assert answer.status == "finished"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"resamples": 0}, ValueError, "resamples must be at least 1"),
        ({"objective": "var"}, ValueError, "'var' uses x alone"),
        ({"k": 9}, ValueError, "keeps 9 of 4 points"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, error, says):
    with pytest.raises(error, match=says):
        qs.stability([1, 2, 3, 4], [1, 2, 4, 3], **{"k": 3, **options})


def test_it_tells_itself_as_text_html_json_frame_and_picture():
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    answer = qs.stability(x, y, 15, resamples=10)
    assert "unclear" in answer.summary()
    assert answer._repr_html_().startswith("<table>")
    assert json.loads(json.dumps(answer.to_dict()))["resamples"] == 10
    assert len(answer.to_frame()) == 20
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    ax.figure.canvas.draw()


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
