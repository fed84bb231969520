"""Pairs of columns: each as if it were solved alone."""

import signal

import numpy as np
import pandas as pd
import pytest

import quadsweep as qs
from quadsweep.choosing.pairwise import solve_pairs

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def table(rows=20, columns=4, seed=0):
    data = np.random.default_rng(seed).normal(size=(rows, columns))
    data[:, 1] += 2 * data[:, 0]
    return data


@pytest.mark.parametrize("objective", ["r2", "cov", "tv", "mcd"])
def test_every_pair_is_the_optimum_of_its_two_columns(objective):
    data = table()
    answer = qs.pairwise(data, 15, objective=objective)
    for at, (i, j) in enumerate(PAIRS):
        alone = qs.solve(data[:, i], data[:, j], 15, objective=objective)
        assert answer.value[at] == pytest.approx(alone.value, abs=1e-8)
        assert answer.outliers[at] == alone.outliers.tolist()


def test_a_falling_relation_keeps_its_sign_and_is_not_trimmed_towards_zero():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    falling = -x + 0.5 * rng.normal(size=60)
    falling[:3] = x[:3] + 4
    data = np.column_stack([x, falling, rng.normal(size=60)])
    answer = qs.pairwise(data, drop=3, objective="r")
    kept = qs.solve(x, falling, drop=3)
    assert answer.value[0] == pytest.approx(-np.sqrt(kept.value), abs=1e-9)
    assert answer.value[0] < answer.pearson[0] < 0
    assert answer.pearson[0] == pytest.approx(np.corrcoef(x, falling)[0, 1])
    squared = qs.pairwise(data, drop=3)
    np.testing.assert_allclose(squared.value, answer.value**2, atol=1e-12)
    np.testing.assert_allclose(squared.r, answer.value)


def test_missing_values_leave_rows_out_of_their_own_pairs_only():
    data = table(30)
    data[:5, 0] = np.nan
    data[3:9, 2] = np.inf
    answer = qs.pairwise(data, drop=0.2)
    assert answer.rows.tolist() == [25, 21, 25, 24, 30, 24]
    for at, (i, j) in enumerate(PAIRS):
        alone = qs.solve(data[:, i], data[:, j], drop=0.2, nan_policy="omit")
        assert answer.value[at] == pytest.approx(alone.value, abs=2e-9)
        assert answer.kept[at] == alone.k
        assert answer.outliers[at] == alone.outliers.tolist()


def test_does_not_depend_on_the_number_of_threads():
    data = table(20, 6)
    data[2, 1] = np.nan
    one, many = (qs.pairwise(data, drop=4, n_jobs=jobs) for jobs in (1, 3))
    pd.testing.assert_frame_equal(one, many)


def test_pairs_without_enough_rows_or_variation_are_nan():
    data = table(10, 5)
    data[3:, 3] = np.nan
    data[:, 4] = 5
    answer = qs.pairwise(data, drop=1)
    assert np.isfinite(answer.value).tolist() == [{3, 4}.isdisjoint(p) for p in
                                                  zip(answer.x, answer.y, strict=True)]  # fmt: skip
    data = table(12, 3)
    data[:4, 0] = np.nan
    assert np.isfinite(qs.pairwise(data, 10).value).tolist() == [False, False, True]


@pytest.mark.parametrize("library", [pd.DataFrame, "polars"])
def test_frames_keep_their_names(library):
    library = pytest.importorskip("polars").DataFrame if library == "polars" else library
    frame = library(dict(zip("abc", table(12, 3).T, strict=True)))
    answer = qs.pairwise(frame, drop=2)
    assert [*zip(answer.x, answer.y, strict=True)] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_limits_and_ctrl_c_keep_the_pairs_made_so_far():
    data = table(500, 14)

    def press(done, total, seconds):
        signal.raise_signal(signal.SIGINT)

    for stop in (lambda *_: False, press):
        stopped, status = solve_pairs(data, drop=5, progress=stop)
        assert status == "interrupted"
        assert 0 < np.isfinite(stopped["value"]).sum() < 91
    none, status = solve_pairs(data, drop=5, time_limit=0)
    assert status == "time_limit"
    assert np.isnan(none["value"]).all()


@pytest.mark.parametrize(
    ("frame", "options", "error", "says"),
    [
        ({"a": [1, 2, 3, 4], "b": list("wxyz")}, {}, TypeError, "column 'b' must hold real"),
        ({"a": [1, 2, 3, 4]}, {}, ValueError, "at least two columns; got 1"),
        ({"a": [1, 2, 3], "b": [1, 2, 4]}, {}, ValueError, "at least 4 rows; got 3"),
        (None, {"k": None}, ValueError, "exactly one of k"),
        (None, {"k": 2}, ValueError, "r2 needs between 3"),
        (None, {"objective": "lts"}, ValueError, "treats both columns alike"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(frame, options, error, says):
    frame = pd.DataFrame(frame) if frame else table(8, 3)
    with pytest.raises(error, match=says):
        qs.pairwise(frame, **{"k": 3, **options})


@pytest.mark.parametrize("frame", [3, np.zeros(5), "table.csv"])
def test_what_is_no_table_is_refused(frame):
    with pytest.raises((TypeError, ValueError), match="frame must"):
        qs.pairwise(frame, 3)
