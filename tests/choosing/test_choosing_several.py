"""path, significance, stability and compare with several predictors."""

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.choosing.clean_line import fit_clean_line


@pytest.fixture
def plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 2))
    y = 1 + X @ [2.0, -1.0] + 0.1 * rng.normal(size=16)
    y[[2, 9]] += 6
    return X, y


def test_a_path_has_the_optimum_of_every_size(plane):
    X, y = plane
    path = qs.path(X, y, drop=3)
    assert path.k.tolist() == [16, 15, 14, 13]
    for k, value in zip(path.k, path.value, strict=True):
        best = qs.solve(X, y, int(k), method="exhaustive")
        assert value == pytest.approx(best.value, abs=2e-9)
    assert path.result(14).outliers.tolist() == [2, 9]
    np.testing.assert_allclose(path.coef[2], path.result(14).coef)
    assert np.isnan(path.slope).all()
    assert path.to_frame().columns.tolist()[:2] == ["k", "drop"]
    assert set(path.to_dict()["coef"]) == {"x1", "x2"}


def test_a_default_path_stops_before_every_plane_fits(plane):
    X, y = plane[0][:7], plane[1][:7]
    assert qs.path(X, y).k.min() == 4
    with pytest.raises(ValueError, match="needs between 4 and n = 7"):
        qs.path(X, y, ks=[3])


def test_shuffles_keep_the_rows_of_x_together(plane):
    X, y = plane
    answer = qs.significance(X, y, drop=2, permutations=19)
    assert answer.p_value == 0.05
    assert answer.result.outliers.tolist() == [2, 9]
    assert len(answer.null) == 19
    rng = np.random.default_rng(0)
    first = qs.solve(X, rng.permutation(y), drop=2, method="exhaustive")
    assert answer.null[0] == pytest.approx(first.value, abs=2e-9)
    noise = qs.significance(X, np.random.default_rng(3).normal(size=16), k=8, permutations=19)
    assert noise.p_value > 0.05


def test_stability_counts_how_often_a_row_is_dropped(plane):
    X, y = plane
    answer = qs.stability(X, y, drop=2, resamples=20, objective="lts")
    assert set(np.argsort(-answer.dropped)[:2].tolist()) == {2, 9}
    assert answer.status == "finished"


def test_more_predictors_than_can_be_proved_still_have_an_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 7))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=60)
    y[:6] += 9
    path = qs.path(X, y, drop=[0, 6], objective="lts")
    assert path.status.tolist() == ["optimal", "heuristic"]
    assert path.result(54).outliers.tolist() == list(range(6))
    assert path.result(54).method == "concentrate"
    assert qs.significance(X, y, drop=6, permutations=3).p_value == 0.25


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [4, [1, 2, 3]])
@pytest.mark.parametrize("objective", ["lts", "r2"])
def test_rows_stand_out_of_a_clean_plane(plane, sizes, objective):
    X, y = plane
    asked = {"drop": sizes, "null": "line", "permutations": 39, "objective": objective}
    noise = qs.path(X, y, **asked).noise
    assert noise.n_outliers == 2
    assert noise.null.shape == (39, len(noise.k))
    assert "a clean plane of this noise" in noise.verdict()
    y = 1 + X @ [2.0, -1.0] + np.random.default_rng(5).normal(size=16)
    assert qs.path(X, y, **asked).noise.n_outliers == 0


def test_a_plane_over_one_column_is_the_line():
    x, e = np.random.default_rng(2).normal(size=(2, 40))
    kept = np.arange(40) > 3
    line, plane = (fit_clean_line(v, 2 * x + e, kept) for v in (x, x[:, None]))
    np.testing.assert_allclose(plane.fitted, line.fitted, atol=1e-12)
    np.testing.assert_allclose(plane.weight, line.weight, atol=1e-12)
    without = fit_clean_line(x[:, None], 2 * x + 7, kept, intercept=False)
    assert without.fitted[np.argmin(np.abs(x))] < 1


def test_the_null_of_a_clean_plane_says_where_it_ends(plane):
    asked = {"drop": 1, "null": "line", "permutations": 3}
    with pytest.raises(ValueError, match="takes no weights"):
        qs.path(*plane, weights=np.arange(1, 17), **asked)
    X = np.random.default_rng(0).normal(size=(16, 7))
    with pytest.raises(ValueError, match="up to 5 predictors; got 7"):
        qs.path(X, plane[1], **asked)


def test_shuffles_are_searched_where_there_are_too_many_predictors_to_prove():
    X = np.random.default_rng(0).normal(size=(20, 6))
    noise = qs.path(X, X.sum(axis=1), drop=2, permutations=4).noise
    assert noise.null.shape == (4, 3)
    assert np.isfinite(noise.null).all()


def test_data_and_names_work_at_every_door(plane):
    import pandas as pd

    frame = pd.DataFrame({"a": plane[0][:, 0], "b": plane[0][:, 1], "c": plane[1]})
    path = qs.path(["a", "b"], "c", data=frame, drop=1)
    assert path.question.given.names == ("a", "b", "c")
    answer = qs.significance("c ~ a + b", data=frame, drop=2, permutations=3)
    assert answer.result.names == ("a", "b", "c")


def test_comparators_are_of_two_columns(plane):
    X, y = plane
    with pytest.raises(ValueError, match="compare takes one predictor"):
        qs.compare(X, y, drop=2)
