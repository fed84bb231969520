"""A result keeps its invariants and prints itself."""

import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import quadsweep as qs


@pytest.fixture
def result():
    data = qs.datasets.load("animals")
    return qs.solve(data.x, data.y, data.k)


def test_inliers_and_outliers_are_sorted_and_make_up_the_data(result):
    assert np.all(np.diff(result.inliers) > 0)
    assert np.all(np.diff(result.outliers) > 0)
    everyone = sorted([*result.inliers.tolist(), *result.outliers.tolist()])
    assert everyone == list(range(result.n))
    assert np.flatnonzero(result.mask).tolist() == result.inliers.tolist()
    assert len(result.inliers) == result.k


def test_value_line_and_gap_are_those_of_the_inliers(result):
    x, y = result.x[result.inliers], result.y[result.inliers]
    assert result.value == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, rel=1e-12)
    np.testing.assert_allclose((result.slope, result.intercept), np.polyfit(x, y, 1), rtol=1e-10)
    assert result.gap == abs(result.bound - result.value)
    assert result.success is (result.status == "optimal")


def test_is_frozen_and_checks_itself(result):
    with pytest.raises(FrozenInstanceError):
        result.value = 1.0
    with pytest.raises(AssertionError):
        replace(result, k=3)


def test_summary_says_what_was_found_and_how_sure_it_is(result):
    text = result.summary()
    assert "62 of 65 points" in text
    assert "0.920784" in text
    assert "0.766166" in text
    assert "proved" in text
    assert "5, 15, 25" in text
    assert "caution" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_summary_names_rows_by_label(result):
    labels = qs.datasets.load("animals").labels
    assert "Diplodocus, Triceratops, Brachiosaurus" in replace(result, labels=labels).summary()


def test_summary_does_not_list_thousands():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    x[0] = np.nan
    result = qs.solve(x, y, k=3, nan_policy="omit")
    assert "and 84 more" in result.summary()
    assert "row 0 (numbered from 0; missing or infinite)" in result.summary()


def test_a_small_share_kept_is_warned_about():
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    assert "pure noise" in qs.solve(x, y, k=6).summary()


def test_to_dict_is_json_and_comes_back(result):
    plain = result.to_dict()
    back = json.loads(json.dumps(plain, allow_nan=False))
    assert back == plain
    assert back["outliers"] == [5, 15, 25]
    assert back["conic"]["kind"] == "hyperbola"


def test_numbers_json_does_not_know_become_null(result):
    upright = qs.solve([1, 1, 1], [1, 2, 4], 3, objective="tv")
    odd = replace(upright, bound=math.inf, gap=math.inf)
    back = json.loads(json.dumps(odd.to_dict(), allow_nan=False))
    assert back["bound"] is back["gap"] is back["slope"] is back["conic"] is None


def test_a_vertical_line_has_no_slope():
    result = qs.solve([1, 1, 1, 5], [1, 2, 3, 9], 3, objective="var", method="exhaustive")
    assert math.isnan(result.slope)
    assert math.isnan(result.intercept)
    json.dumps(result.to_dict(), allow_nan=False)


def test_html_escapes_what_comes_from_the_data(result):
    labels = ["<script>alert(1)</script>"] * 65
    page = replace(result, labels=labels)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_stopped_before_the_first_subset_it_still_answers():
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    result = qs.solve(x, y, 20, method="exhaustive", time_limit=0)
    assert result.status == "time_limit"
    assert len(result.inliers) == 20
    assert result.gap >= 0
    assert not result.success
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_callback_sees_the_search_and_may_stop_it():
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    seen = []

    def stop(value, bound, nodes, seconds):
        seen.append((value, bound, nodes, seconds))
        return False

    result = qs.solve(x, y, 20, method="exhaustive", progress=stop)
    assert result.status == "interrupted"
    assert len(seen) == 1
    assert 0 <= seen[0][0] <= seen[0][1]


def test_a_callback_that_raises_ends_the_solve_with_its_own_error():
    x, y = np.random.default_rng(0).normal(size=(2, 40))

    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        qs.solve(x, y, 20, method="exhaustive", progress=fail)


def test_what_is_worked_out_late_belongs_to_the_data_as_they_were():
    x, y = np.random.default_rng(3).random((2, 40))
    early, late = qs.solve(x, y, 30), qs.solve(x, y, 30)
    line, conic, message = (early.slope, early.intercept), early.conic, early.message
    x[:], y[:] = 0.0, 1.0
    assert (late.slope, late.intercept) == line
    assert late.conic == conic
    assert late.message == message


def test_a_pickled_result_still_works_out_the_rest(result):
    fresh = replace(result)
    back = pickle.loads(pickle.dumps(fresh))
    assert back.to_dict() == result.to_dict()
    assert pickle.loads(pickle.dumps(back)).conic == result.conic
