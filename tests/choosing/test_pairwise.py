"""Pairs of columns: each as if it were solved alone."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import quadsweep as qs

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
        assert answer.outliers[at].tolist() == alone.outliers.tolist()
    assert answer.status == "finished"
    matrix = answer.matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[1, 3] == answer.value[4]
    diagonal = np.diag(matrix)
    assert (diagonal == 1).all() if objective == "r2" else np.isnan(diagonal).all()


def falling_table():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    falling = -x + 0.5 * rng.normal(size=60)
    falling[:3] = x[:3] + 4
    return np.column_stack([x, falling, rng.normal(size=60)])


def test_a_falling_relation_keeps_its_sign_and_is_not_trimmed_towards_zero():
    data = falling_table()
    x, falling, _ = data.T
    answer = qs.pairwise(data, drop=3, objective="r")
    kept = qs.solve(x, falling, drop=3)
    assert answer.value[0] == pytest.approx(-np.sqrt(kept.value), abs=1e-9)
    assert answer.value[0] < answer.pearson[0] < 0
    assert answer.pearson[0] == pytest.approx(np.corrcoef(x, falling)[0, 1])
    squared = qs.pairwise(data, drop=3)
    np.testing.assert_allclose(squared.value, answer.value**2, atol=1e-12)
    np.testing.assert_allclose(squared.r, answer.value)


def test_the_picture_of_r2_has_the_sign_and_pearson_beside_it():
    answer = qs.pairwise(falling_table()[:, :2], drop=3)
    ax = answer.plot()
    image = ax.images[0]
    assert image.get_clim() == (-1, 1)
    kept, pearson = answer.r[0], answer.pearson[0]
    assert kept < pearson < 0
    np.testing.assert_allclose(image.get_array(), [[1, kept], [pearson, 1]])
    assert {text.get_text() for text in ax.texts} == {f"{kept:.2f}", f"{pearson:.2f}"}
    assert "above: r of rows kept, below: Pearson" in ax.get_title(loc="left")


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
        assert answer.outliers[at].tolist() == alone.outliers.tolist()


def test_does_not_depend_on_workers():
    data = table(20, 6)
    data[2, 1] = np.nan
    one = qs.pairwise(data, drop=4, n_jobs=1)
    for options in ({"n_jobs": 3}, {"workers": "joblib", "n_jobs": 2}):
        many = qs.pairwise(data, drop=4, **options)
        np.testing.assert_array_equal(one.value, many.value)
        assert [o.tolist() for o in one.outliers] == [o.tolist() for o in many.outliers]


def test_pairs_without_a_value_are_nan_and_counted():
    data = table(10, 5)
    data[3:, 3] = np.nan
    data[:, 4] = 5
    answer = qs.pairwise(data, drop=1)
    assert np.isnan(answer.matrix()[3, [0, 1, 2, 4]]).all()
    assert np.isnan(answer.matrix()[4, :4]).all()
    assert np.isfinite(answer.matrix()[:3, :3]).all()
    assert "no value:     7 pairs: too few rows, or constant" in answer.summary()


def test_pairs_with_fewer_rows_than_k_are_nan():
    data = table(12, 3)
    data[:4, 0] = np.nan
    answer = qs.pairwise(data, 10)
    assert np.isfinite(answer.value).tolist() == [False, False, True]


@pytest.mark.parametrize("library", [pd.DataFrame, "polars"])
def test_frames_keep_their_names(library):
    library = pytest.importorskip("polars").DataFrame if library == "polars" else library
    frame = library(dict(zip("abc", table(12, 3).T, strict=True)))
    answer = qs.pairwise(frame, drop=2)
    long = answer.to_frame()
    assert [*zip(long["x"], long["y"], strict=True)] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [list(rows) for rows in long["outliers"]] == [rows.tolist() for rows in answer.outliers]


def test_limits_keep_the_pairs_made_so_far():
    data = table(500, 14)
    stopped = qs.pairwise(data, drop=5, progress=lambda done, *_: False)
    assert stopped.status == "interrupted"
    assert 0 < np.isfinite(stopped.value).sum() < 91
    assert "interrupted after" in stopped.summary()
    none = qs.pairwise(data, drop=5, time_limit=0)
    assert none.status == "time_limit"
    assert np.isnan(none.value).all()


@pytest.mark.parametrize(
    ("frame", "options", "error", "says"),
    [
        ({"a": [1, 2, 3, 4], "b": list("wxyz")}, {}, TypeError, "column 'b' must hold real"),
        ({"a": [1, 2, 3, 4]}, {}, ValueError, "at least two columns; got 1"),
        ({"a": [1, 2, 3], "b": [1, 2, 4]}, {}, ValueError, "at least 4 rows; got 3"),
        (None, {"k": None}, ValueError, "exactly one of k"),
        (None, {"k": 2}, ValueError, "r2 needs between 3"),
        (None, {"objective": "lts"}, ValueError, "treats both columns alike"),
        (None, {"workers": "hands"}, ValueError, "workers must be 'threads' or 'joblib'"),
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


def test_it_tells_itself_as_text_html_json_and_picture():
    answer = qs.pairwise(table(), 15)
    assert "6 of 4 columns" in answer.summary()
    assert "<th>Pearson</th>" in answer._repr_html_()
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["outliers"] == [rows.tolist() for rows in answer.outliers]
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    ax.figure.canvas.draw()
