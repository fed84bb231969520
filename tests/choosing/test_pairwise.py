"""Pairs of columns: each as if it were solved alone."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import quadsweep as qs


def table(rows=20, columns=4, seed=0):
    data = np.random.default_rng(seed).normal(size=(rows, columns))
    data[:, 1] += 2 * data[:, 0]
    return data


@pytest.mark.parametrize("objective", ["r2", "cov", "tv"])
def test_every_pair_is_the_optimum_of_its_two_columns(objective):
    data = table()
    answer = qs.pairwise(data, 15, objective=objective, p_values=None)
    for i in range(4):
        for j in range(i + 1, 4):
            alone = qs.solve(data[:, i], data[:, j], 15, objective=objective)
            assert answer.values[i, j] == pytest.approx(alone.value, abs=1e-8)
            assert answer.values[j, i] == answer.values[i, j]
    assert answer.p_values is None
    assert answer.status == "finished"
    diagonal = np.diag(answer.values)
    assert (diagonal == 1).all() if objective == "r2" else np.isnan(diagonal).all()


def test_a_falling_relation_keeps_its_sign_and_is_not_trimmed_towards_zero():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    falling = -x + 0.5 * rng.normal(size=60)
    falling[:3] = x[:3] + 4
    data = np.column_stack([x, falling, rng.normal(size=60)])
    answer = qs.pairwise(data, drop=3, objective="r", p_values=None)
    kept = qs.solve(x, falling, drop=3)
    assert answer.values[0, 1] == pytest.approx(-np.sqrt(kept.value), abs=1e-9)
    assert answer.values[0, 1] < answer.pearson[0, 1] < 0
    assert answer.pearson[0, 1] == pytest.approx(np.corrcoef(x, falling)[0, 1])
    squared = qs.pairwise(data, drop=3, p_values=None)
    np.testing.assert_allclose(squared.values, answer.values**2, atol=1e-12)
    np.testing.assert_allclose(squared.r, answer.values)
    frame = answer.to_frame()
    assert {"r", "pearson"} <= set(frame.columns)


def test_the_picture_of_r2_has_the_sign_and_pearson_beside_it():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    falling = -x + 0.5 * rng.normal(size=60)
    falling[:3] = x[:3] + 4
    answer = qs.pairwise(np.column_stack([x, falling]), drop=3, p_values=None)
    ax = answer.plot()
    image = ax.images[0]
    assert image.get_clim() == (-1, 1)
    kept, pearson = answer.r[0, 1], answer.pearson[0, 1]
    assert kept < pearson < 0
    np.testing.assert_allclose(image.get_array(), [[1, kept], [pearson, 1]])
    assert {text.get_text() for text in ax.texts} == {f"{kept:.2f}", f"{pearson:.2f}"}
    assert "above: r of rows kept, below: Pearson" in ax.get_title(loc="left")


def test_adjusted_p_values_follow_their_definitions():
    from quadsweep.choosing.p_values import adjusted_p_values

    for seed in range(20):
        p = np.random.default_rng(seed).uniform(size=7) ** 3
        order = np.argsort(p)
        holm, running = np.empty(7), 0.0
        for rank, at in enumerate(order):
            running = max(running, (7 - rank) * p[at])
            holm[at] = min(running, 1)
        bh = [min(1, min(7 * p[b] / (r + 1) for r, b in enumerate(order) if p[b] >= v)) for v in p]
        np.testing.assert_allclose(adjusted_p_values(p, "holm"), holm)
        np.testing.assert_allclose(adjusted_p_values(p, "bh"), bh)
    with_hole = adjusted_p_values(np.array([0.01, np.nan, 0.02]), "holm")
    np.testing.assert_allclose(with_hole, [0.02, np.nan, 0.02])
    with pytest.raises(ValueError, match="method must be 'holm' or 'bh'"):
        adjusted_p_values(np.array([0.1]), "tukey")


def test_missing_values_leave_rows_out_of_their_own_pairs_only():
    data = table(30)
    data[:5, 0] = np.nan
    data[3:9, 2] = np.inf
    answer = qs.pairwise(data, drop=0.2, p_values=None)
    assert answer.rows[0].tolist() == [25, 25, 21, 25]
    for i, j in [(0, 1), (0, 2), (1, 3), (2, 3)]:
        alone = qs.solve(data[:, i], data[:, j], drop=0.2, nan_policy="omit")
        assert answer.values[i, j] == pytest.approx(alone.value, abs=2e-9)
        assert answer.kept[i, j] == alone.k


def test_own_p_values_are_those_of_shuffles_until_three_have_reached_the_value():
    data = table(16, 3)
    answer = qs.pairwise(data, 12, permutations=59, seed=4)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        value = qs.solve(data[:, i], data[:, j], 12).value
        rng, hits, made = np.random.default_rng([4, i, j]), 0, 0
        for size in (8, 16, 32, 3):
            for y in rng.permuted(np.tile(data[:, j], (size, 1)), axis=1):
                if hits < 3:
                    made += 1
                    hits += qs.solve(data[:, i], y, 12).value >= value - 2e-9
        expected = 3 / made if hits == 3 else (1 + hits) / (1 + made)
        assert answer.p_values[i, j] == pytest.approx(expected), (i, j)


def test_own_p_values_of_noise_are_uniform():
    """435 p-values, dependent through shared columns: tolerance 0.1, see test_significance."""
    data = np.random.default_rng(8).uniform(size=(14, 30))
    answer = qs.pairwise(data, 9, permutations=39)
    p = answer.p_values[np.triu_indices(30, 1)]
    for u in (0.05, 0.1, 0.25, 0.5, 0.75):
        assert abs((p <= u).mean() - u) < 0.1, u


def test_pooled_p_values_compare_with_shuffled_pairs_of_as_many_rows():
    data = table(14, 30, seed=3)
    answer = qs.pairwise(data, 9, p_values="pooled", permutations=99)
    again = qs.pairwise(data, 9, p_values="pooled", permutations=99, n_jobs=1)
    np.testing.assert_array_equal(answer.p_values, again.p_values)
    p = answer.p_values[np.triu_indices(30, 1)]
    assert ((p * 100).round(9) % 1 == 0).all()
    assert p[0] <= 0.05
    for u in (0.05, 0.25, 0.5, 0.75):
        assert abs((p <= u).mean() - u) < 0.1, u


def test_does_not_depend_on_workers():
    data = table(20, 6)
    data[2, 1] = np.nan
    one = qs.pairwise(data, drop=4, permutations=29, n_jobs=1)
    for options in ({"n_jobs": 3}, {"workers": "joblib", "n_jobs": 2}):
        many = qs.pairwise(data, drop=4, permutations=29, **options)
        np.testing.assert_array_equal(one.values, many.values)
        np.testing.assert_array_equal(one.p_values, many.p_values)


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_through_joblib():
    import joblib
    from distributed import Client, LocalCluster

    data = table(20, 18)
    here = qs.pairwise(data, 15, permutations=9)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = qs.pairwise(data, 15, permutations=9, workers="joblib")
    np.testing.assert_array_equal(here.values, there.values)
    np.testing.assert_array_equal(here.p_values, there.p_values)


def test_pairs_with_few_rows_are_nan_and_counted_in_the_warning():
    data = table(10, 4)
    data[3:, 3] = np.nan
    with pytest.warns(UserWarning, match="3 pairs of columns have fewer usable rows"):
        answer = qs.pairwise(data, drop=1, p_values=None)
    assert np.isnan(answer.values[3, :3]).all()
    assert np.isfinite(answer.values[:3, :3]).all()
    assert answer.too_few == 3
    assert "3 pairs with too few rows" in answer.summary()


def test_constant_columns_are_nan_and_counted_in_the_warning():
    data = table(10, 3)
    data[:, 2] = 5
    with pytest.warns(UserWarning, match="2 pairs have a constant column"):
        answer = qs.pairwise(data, drop=1)
    assert answer.undefined == 2
    assert np.isnan(answer.values[2, :2]).all()
    assert np.isnan(answer.p_values[2, :2]).all()


def test_pairs_with_fewer_rows_than_k_are_nan_and_counted():
    data = table(12, 3)
    data[:4, 0] = np.nan
    with pytest.warns(UserWarning, match="2 pairs"):
        answer = qs.pairwise(data, 10, p_values=None)
    assert np.isfinite(answer.values[1, 2])


def test_frames_keep_their_names():
    frame = pd.DataFrame(table(12, 3), columns=["a", "b", "c"])
    answer = qs.pairwise(frame, drop=2, permutations=9)
    assert answer.matrix().loc["a", "b"] == answer.values[0, 1]
    assert answer.p_matrix().columns.tolist() == ["a", "b", "c"]
    long = answer.to_frame()
    assert long[["x", "y"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert long["p_value"].tolist() == answer.p_values[np.triu_indices(3, 1)].tolist()


def test_polars_frames_are_taken_too():
    import polars as pl

    data = table(12, 3)
    frame = pl.DataFrame({"a": data[:, 0], "b": data[:, 1]})
    assert qs.pairwise(frame, 10, p_values=None).names == ["a", "b"]


def test_limits_keep_the_pairs_made_so_far():
    data = table(20, 40)
    stopped = qs.pairwise(data, 15, p_values=None, progress=lambda done, *_: False)
    assert stopped.status == "interrupted"
    finite = np.isfinite(stopped.values[np.triu_indices(40, 1)])
    assert 0 < finite.sum() < 780
    assert "interrupted after" in stopped.summary()
    none = qs.pairwise(data, 15, time_limit=0)
    assert none.status == "time_limit"
    assert np.isnan(none.values[np.triu_indices(40, 1)]).all()


@pytest.mark.parametrize(
    ("frame", "options", "error", "says"),
    [
        ({"a": [1, 2, 3, 4], "b": list("wxyz")}, {}, TypeError, "column 'b' must hold real"),
        ({"a": [1, 2, 3, 4]}, {}, ValueError, "at least two columns; got 1"),
        ({"a": [1, 2, 3], "b": [1, 2, 4]}, {}, ValueError, "at least 4 rows; got 3"),
        (None, {"permutations": 0}, ValueError, "permutations must be at least 1"),
        (None, {"k": None}, ValueError, "exactly one of k"),
        (None, {"k": 2}, ValueError, "r2 needs between 3"),
        (None, {"objective": "lts"}, ValueError, "treats both columns alike"),
        (None, {"p_values": "all"}, ValueError, "p_values must be 'own', 'pooled' or None"),
        (None, {"p_values": "pooled", "objective": "cov"}, ValueError, "without units"),
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
    answer = qs.pairwise(table(), 15, permutations=199)
    with warnings.catch_warnings():
        assert "pairs" in answer.summary()
    assert answer._repr_html_().startswith("<table>")
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["p_values"][0][0] is None
    ax = Figure().subplots()
    assert answer.plot(ax=ax) is ax
    starred = sum("*" in t.get_text() for t in ax.texts)
    assert starred == np.sum(answer.adjusted() <= 0.05) / 2 > 0
    ax.figure.canvas.draw()


def eleven_columns():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(11, 60))
    columns[1] = columns[0] + 0.2 * columns[1]
    return columns.T


def test_shuffles_are_enough_for_holm_unless_said_otherwise():
    answer = qs.pairwise(eleven_columns(), drop=0.05, objective="r")
    assert answer.permutations == 55 * 20 - 1
    assert answer.adjusted("holm")[0, 1] <= 0.05
    assert not any(name == "caution" for name, _ in answer.summary_items())


def test_too_few_shuffles_for_holm_are_said():
    answer = qs.pairwise(eleven_columns(), drop=0.05, objective="r", permutations=199)
    assert answer.adjusted("holm")[0, 1] > 0.05
    said = dict(answer.summary_items())["caution"]
    assert said.startswith("199 shuffles cannot give a p-value below 0.28 after Holm; ")
    assert said.endswith("permutations=1099 can reach 0.05")
    assert {"p_holm", "p_bh"} <= set(answer.to_frame().columns)
    assert answer.to_dict()["p_holm"][0][1] == answer.adjusted("holm")[0, 1]
