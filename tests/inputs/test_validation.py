"""Bad input: one clear sentence, before any work."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.inputs import validation

X, Y = [1.0, 2.0, 3.0, 4.0, 6.0], [1.0, 3.0, 2.0, 5.0, 4.0]


@pytest.mark.parametrize(
    ("x", "y", "options", "error", "says"),
    [
        (X, Y[:4], {"k": 3}, ValueError, "same length; got 5 and 4"),
        (X, Y, {"k": 0}, ValueError, "r2 needs between 3 and n = 5"),
        (X, Y, {"k": 1}, ValueError, "r2 needs between 3 and n = 5"),
        (X, Y, {"k": 2}, ValueError, "r2 needs between 3 and n = 5"),
        (X, Y, {"k": -3}, ValueError, "r2 needs between 3 and n = 5"),
        (X, Y, {"k": 1, "objective": "tv"}, ValueError, "tv needs between 2 and n = 5"),
        (X, Y, {"k": 6}, ValueError, "k=6 keeps 6 of 5 points"),
        (X, Y, {"drop": 3}, ValueError, "drop=3 keeps 2 of 5 points"),
        (X, Y, {"drop": -1}, ValueError, "drop=-1 keeps 6 of 5 points"),
        (X, Y, {}, ValueError, "exactly one of k .* got neither"),
        (X, Y, {"k": 3, "drop": 2}, ValueError, "exactly one of k .* got both"),
        (X, Y, {"k": 1.0}, ValueError, "share in \\(0, 1\\); got 1.0"),
        (X, Y, {"k": 0.0}, ValueError, "share in \\(0, 1\\); got 0.0"),
        (X, Y, {"drop": 1.5}, ValueError, "share in \\(0, 1\\); got 1.5"),
        (X, Y, {"k": math.nan}, ValueError, "share in \\(0, 1\\); got nan"),
        (X, Y, {"k": "3"}, TypeError, "got '3'"),
        (X, Y, {"k": True}, TypeError, "got True"),
        (X, [1, 2, math.nan, math.inf, 4], {"k": 3}, ValueError, "2 rows .* first at index 2"),
        (X, [-math.inf, 2, 3, 4, 5], {"k": 3}, ValueError, "1 row.* first at index 0"),
        ([math.nan] * 5, Y, {"k": 3, "nan_policy": "omit"}, ValueError, "every row has NaN"),
        (X, Y, {"k": 3, "nan_policy": "drop"}, ValueError, "'raise' or 'omit'; got 'drop'"),
        (list("abcde"), Y, {"k": 3}, TypeError, "x must hold real numbers; got text"),
        (X, [b"a"] * 5, {"k": 3}, TypeError, "y must hold real numbers; got bytes"),
        (X, [1, 2, object(), 4, 5], {"k": 3}, TypeError, "got <object .* at index 2"),
        (X, [1, 2, "3", None, 5], {"k": 3}, TypeError, "y must hold real numbers"),
        (np.array(X) + 1j, Y, {"k": 3}, TypeError, "got complex numbers"),
        (np.arange(5).astype("timedelta64[D]"), Y, {"k": 3}, TypeError, "got durations"),
        (np.ones((5, 2, 2)), Y, {"k": 3}, ValueError, "one-dimensional; got .*\\(5, 2, 2\\)"),
        (3.0, Y, {"k": 3}, ValueError, "one-dimensional; got .*\\(\\)"),
        ([[1], [2, 3]], Y, {"k": 3}, ValueError, "x must be a flat sequence"),
        ([], [], {"k": 3}, ValueError, "got none"),
        ([2] * 5, Y, {"k": 3}, ValueError, "x is constant \\(2 in all 5 rows\\)"),
        (X, [7.5] * 5, {"k": 3, "objective": "r"}, ValueError, "y is constant \\(7.5"),
        ([1, 1, 1, 1, 2], [1, 2, 3, 4, 4], {"k": 3, "objective": "rr"}, ValueError, "one of r2, r"),
        (X, Y, {"k": 3, "objective": None}, ValueError, "objective must be one of r2.*got None"),
        (X, Y, {"k": 3, "method": "magic"}, ValueError, "method must be one of auto.*got 'magic'"),
        (X, Y, {"k": 3, "method": []}, ValueError, "method must be one of auto"),
        (X, None, {"k": 3}, ValueError, "left out only for objective 'var'; got 'r2'"),
        (X, Y, {"k": 3, "tol": -1}, ValueError, "tol must be"),
        (X, Y, {"k": 3, "tol": math.nan}, ValueError, "tol must be"),
        (X, Y, {"k": 3, "tol": "small"}, ValueError, "tol must be"),
        (X, Y, {"k": 3, "time_limit": -1}, ValueError, "time_limit must be"),
        (X, Y, {"k": 3, "time_limit": math.nan}, ValueError, "time_limit must be"),
        (X, Y, {"k": 3, "n_jobs": 0}, ValueError, "n_jobs must be"),
        (X, Y, {"k": 3, "n_jobs": 1.5}, TypeError, "n_jobs must be"),
        (X, Y, {"k": 3, "seed": -1}, ValueError, "seed must be at least 0; got -1"),
        (X, Y, {"k": 3, "seed": 0.5}, TypeError, "seed must be a whole number; got 0.5"),
        (X, Y, {"k": 3, "progress": "yes"}, TypeError, "progress must be"),
    ],
)  # fmt: skip
def test_is_refused_in_one_sentence(x, y, options, error, says):
    with pytest.raises(error, match=says) as caught:
        qs.solve(x, y, **options)
    assert "\n" not in str(caught.value)


def test_missing_rows_are_left_out_and_positions_map_back():
    x = [9, 1, 2, np.nan, 3, 4, 5, 6]
    y = [np.inf, 1, 2, 3, 9, 4, 5, None]
    result = qs.solve(x, y, drop=1, nan_policy="omit")
    assert result.n == 5
    assert result.omitted.tolist() == [0, 3, 7]
    assert result.outliers.tolist() == [4]
    assert result.inliers.tolist() == [1, 2, 5, 6]
    assert result.mask.tolist() == [False, True, True, False, False, True, True, False]


@pytest.mark.parametrize(
    "values",
    [
        (1, 2, 3, 4, 6),
        range(1, 6),
        np.array([1, 2, 3, 4, 6], dtype=np.uint8),
        np.array([1, 2, 3, 4, 6], dtype=np.float32),
        [Fraction(1), Decimal(2), 3, 4.0, np.int64(6)],
        np.arange(1.0, 11.0)[::2],
        [False, True, True, False, True],
        np.array([1.0, 2.0, 3.0, 4.0, 6.0], dtype=">f8"),
    ],
    ids=["tuple", "range", "uint8", "float32", "mixed", "strided", "bool", "big-endian"],
)
def test_any_sequence_of_numbers_is_accepted(values):
    assert qs.solve(values, Y, k=4, method="exhaustive").k == 4


def test_shares_keep_at_least_and_drop_at_most_that_share():
    x, y = np.random.default_rng(0).normal(size=(2, 10))
    assert qs.solve(x, y, k=0.75).k == 8
    assert qs.solve(x, y, drop=0.25).k == 8
    assert qs.solve(x, y, k=0.3).k == 3
    assert qs.solve(x, y, drop=0.7).k == 3


def test_y_may_be_left_out_for_var():
    assert qs.solve([5, 1, 2, 3, 30], k=3, objective="var", method="exhaustive").value == 2 / 3


def test_the_data_is_not_changed():
    x, y = np.array(X), np.array(Y)
    x.flags.writeable = y.flags.writeable = False
    qs.solve(x, y, k=4)
    assert x.tolist() == X


def test_masked_numbers_are_missing_values():
    x = np.ma.array(X, mask=[0, 0, 0, 1, 0])
    y = np.ma.array([1, 3, 2, 5, 4], mask=[0, 1, 0, 0, 0])
    with pytest.raises(ValueError, match="2 rows with NaN or infinity, the first at index 1"):
        qs.solve(x, y, 3)
    left = qs.solve(x, y, 3, nan_policy="omit")
    assert left.inliers.tolist() == [0, 2, 4]
    assert left.n == 3
    assert qs.solve(np.ma.array(X), Y, 3).value == qs.solve(X, Y, 3).value


def test_masked_numbers_are_missing_wherever_columns_are_taken():
    x = np.ma.array([1.0, 2, 3, 4, 5, 6, 7], mask=[0, 0, 1, 0, 0, 0, 0])
    y = np.array([1.0, 2.5, 99, 4.5, 5, 6.5, 6])
    used = [0, 1, 3, 4, 5, 6]
    clean = qs.audit(np.asarray(x)[used], y[used])
    assert qs.audit(x, y, nan_policy="omit").before == clean.before
    assert qs.path(x, y, drop=[1], nan_policy="omit").n == 6
    table = np.ma.column_stack([x, y, y[::-1]])
    assert qs.pairwise(table, drop=1)["rows"].tolist() == [6, 6, 7]
    listed = [1.0, np.ma.masked, 3, 4, 6]
    assert qs.solve(listed, Y, 3, nan_policy="omit").n == 4


def test_masks_on_text_do_not_make_it_numbers():
    with pytest.raises(TypeError, match="x must hold real numbers; got text"):
        qs.solve(np.ma.array(list("abcde"), mask=[0, 1, 0, 0, 0]), Y, 3)


@pytest.mark.parametrize("n_jobs", [2147483647, 2**70, 10**6])
def test_more_threads_than_cores_are_not_started(n_jobs):
    cores = validation.jobs(-1)
    assert validation.jobs(n_jobs) == cores
    assert validation.jobs(1) == 1
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    assert qs.solve(x, y, 20, n_jobs=n_jobs).status == "optimal"
    assert qs.solve(x[:9], y[:9], 6, n_jobs=n_jobs, method="sweep").status == "best_separable"
    assert qs.solve_many(x[None], y[None], 20, n_jobs=n_jobs).success
    assert qs.audit(x, y, n_jobs=n_jobs, max_drop=3).before.n == 40


def test_numbers_beyond_the_doubles_are_refused_in_one_sentence():
    with pytest.raises(
        ValueError, match=r"x must hold numbers up to 1.8e308; got 1000.* at index 1"
    ):
        qs.solve([1, 10**400, 3, 4, 6], Y, 3)
    with pytest.raises(ValueError, match=r"seed must be below 2\*\*64; got 18446744073709551616"):
        qs.solve(X, Y, 3, seed=2**64)
    assert qs.solve(X, Y, 3, time_limit=10**400, seed=2**64 - 1).success


def test_one_odd_cell_is_named_with_what_to_do_about_it():
    y = np.array([1.0, 2, "unknown", 4, 5], dtype=object)
    with pytest.raises(TypeError, match=r"'unknown' at index 2 .*frame.replace\('unknown', None\)"):
        qs.solve(range(5), y, 4)
    y[2] = None
    assert qs.solve(range(5), y, 3, nan_policy="omit").omitted.tolist() == [2]


def _times():
    return 1_700_000_000_000_000_001 + 7 * np.arange(10)


@pytest.mark.parametrize("form", ["array", "list", "masked", "pandas", "polars", "formula"])
def test_whole_numbers_that_floating_point_rounds_are_refused(form):
    t, y = _times(), np.arange(10.0)
    given = {
        "array": lambda: (t, y),
        "list": lambda: (t.tolist(), y),
        "masked": lambda: (np.ma.array(t), y),
        "pandas": lambda: (pytest.importorskip("pandas").Series(t), y),
        "polars": lambda: (pytest.importorskip("polars").Series(t), y),
        "formula": lambda: ("y ~ t", pytest.importorskip("pandas").DataFrame({"t": t, "y": y})),
    }[form]()
    with pytest.raises(ValueError, match="floating point rounds"):
        qs.solve(*given, drop=1)


def test_whole_numbers_beyond_2_53_that_doubles_hold_are_taken():
    t = _times() - _times()[0]
    assert qs.solve(t * 2**54, np.arange(10.0), drop=1).value == 1.0
