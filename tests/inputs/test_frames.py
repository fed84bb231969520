"""Frames in and out: names, labels, missing values, the library they came from."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import quadsweep as qs

X, Y = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 9.0, 4.0, 5.0]


@pytest.fixture
def animals():
    data = qs.datasets.load("animals")
    return pd.DataFrame({"body": data.x, "brain": data.y}, index=list(data.labels))


def test_pandas_columns_keep_their_names_and_labels(animals):
    result = qs.solve(animals["body"], animals["brain"], drop=3)
    assert result.names == ("body", "brain")
    assert "Diplodocus, Triceratops, Brachiosaurus" in result.summary()


def test_the_frame_comes_back_with_a_column_saying_in_or_out(animals):
    frame = qs.solve(animals["body"], animals["brain"], drop=3).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["body", "brain", "inlier"]
    assert frame.index[~frame["inlier"]].tolist() == ["Diplodocus", "Triceratops", "Brachiosaurus"]
    pd.testing.assert_frame_equal(frame[["body", "brain"]], animals)
    assert "inlier" not in animals


def test_a_frame_of_two_columns_is_x_and_y(animals):
    result = qs.solve(animals, drop=3)
    assert result.names == ("body", "brain")
    assert result.outliers.tolist() == [5, 15, 25]


def test_polars_columns_come_back_as_polars():
    frame = pl.DataFrame({"a": X, "b": Y})
    for result in (qs.solve(frame["a"], frame["b"], drop=1), qs.solve(frame, drop=1)):
        assert result.names == ("a", "b")
        assert result.labels is None
        back = result.to_frame()
        assert isinstance(back, pl.DataFrame)
        assert back["inlier"].to_list() == [True, True, False, True, True]


def test_a_column_called_inlier_is_not_overwritten():
    frame = pd.DataFrame({"inlier": X, "b": Y})
    assert qs.solve(frame, drop=1).to_frame().columns.tolist() == ["inlier", "b", "inlier_"]


def test_arrays_come_back_as_a_pandas_frame():
    frame = qs.solve(X, Y, drop=1).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["x", "y", "inlier"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, None, 4, 5, 7], dtype="Int64"),
        pd.Series([1, 2, np.nan, 4, 5, 7]),
        pd.Series([1, 2, None, 4, 5, 7], dtype="float64[pyarrow]"),
        pl.Series([1, 2, None, 4, 5, 7]),
        pl.Series([1.0, 2.0, float("nan"), 4.0, 5.0, 7.0]),
    ],
    ids=["Int64", "float64", "arrow", "polars null", "polars nan"],
)
def test_missing_values_of_every_kind_are_found(column):
    y = [1, 2, 3, 4, 9, 7]
    with pytest.raises(ValueError, match=r"1 rows? with NaN .* index 2"):
        qs.solve(column, y, drop=1)
    result = qs.solve(column, y, drop=1, nan_policy="omit")
    assert result.omitted.tolist() == [2]
    assert result.outliers.tolist() == [4]
    assert result.to_frame().shape == (6, 3)


def test_a_series_beside_a_list_and_one_without_a_name():
    result = qs.solve(pd.Series(X, index=list("abcde")), Y, drop=1)
    assert result.names == ("x", "y")
    assert result.to_frame().index.tolist() == list("abcde")
    result = qs.solve(X, pl.Series("h", Y), drop=1)
    assert result.names == ("x", "h")
    assert isinstance(result.to_frame(), pl.DataFrame)


def test_columns_of_one_name_stay_two():
    frame = qs.solve(pd.Series(X, name="v"), pd.Series(Y, name="v"), drop=1).to_frame()
    assert frame.columns.tolist() == ["v", "v_y", "inlier"]


def test_an_index_with_repeats_is_no_trouble():
    x, y = pd.Series(X, index=[7] * 5, name="a"), pd.Series(Y, index=[7] * 5, name="b")
    result = qs.solve(x, y, drop=1)
    assert result.to_frame()["inlier"].tolist() == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("x", "y", "error", "says"),
    [
        (pd.Series(X), pd.Series(Y, index=[4, 3, 2, 1, 0]), ValueError, "same index"),
        (
            pd.DataFrame({"a": X, "b": Y}), pd.Series(Y, index=[4, 3, 2, 1, 0]), ValueError,
            "same index",
        ),
        (pd.Series(X), pd.Series(Y[:4]), ValueError, "same length; got 5 and 4"),
        (pd.DataFrame({"a": X, "b": X, "c": X}), None, ValueError, "frame with 3 columns"),
        (X, pd.DataFrame({"a": X, "b": X}), ValueError, "y must be one column; got a frame"),
        (pl.LazyFrame({"a": X, "b": Y}), None, TypeError, "lazy frame, collect it first"),
        (pd.Series(list("abcde")), Y, TypeError, "x must hold real numbers"),
        (pl.Series(list("abcde")), Y, TypeError, "x must hold real numbers"),
        (pd.Series(pd.to_timedelta([1, 2, 3, 4, 5])), Y, TypeError, "got durations"),
        (pd.DataFrame({"a": X, "b": Y, "c": Y}), None, ValueError, r"solve\(data=frame, x='a'"),
        (pd.Series(X, dtype=complex), Y, TypeError, "complex"),
    ],
)  # fmt: skip
def test_bad_frames_are_refused_in_one_sentence(x, y, error, says):
    with pytest.raises(error, match=says):
        qs.solve(x, y, k=4)


def test_one_column_of_a_frame_will_do_for_var():
    result = qs.solve(pd.DataFrame({"a": X}), k=3, objective="var", method="exhaustive")
    assert result.to_frame().columns.tolist() == ["a", "inlier"]


def test_pyarrow_tables_and_columns_are_accepted():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1, 2, 3, 4, 5], "b": [1, 2, 9, 4, 5]})
    assert qs.solve(table, drop=1).names == ("a", "b")
    for result in (qs.solve(table, drop=1), qs.solve(table["a"], table["b"], drop=1)):
        assert result.outliers.tolist() == [2]
        assert result.to_frame()["inlier"].to_pylist() == [True, True, False, True, True]


def test_relations_of_duckdb_are_collected_at_the_border():
    duckdb = pytest.importorskip("duckdb")
    rows = "(1, 1.0, 'u', 0.3), (2, 2.0, 'u', 0.5), (3, 9.0, 'u', 0.1), (4, 4.0, 'v', 0.9), "
    rows += "(5, 5.0, 'v', 0.2), (7, 7.5, 'v', 0.4), (8, 8.0, 'u', 0.6)"
    with duckdb.connect() as connection:
        relation = connection.sql(f"select * from (values {rows}) t(a, b, g, z)")
        result = qs.solve(relation.project("a, b"), drop=1)
        assert (result.names, result.outliers.tolist()) == (("a", "b"), [2])
        assert qs.solve("a", "b", data=relation, drop=1).outliers.tolist() == [2]
        assert qs.solve("b ~ a + z", data=relation, drop=1).outliers.tolist() == [2]
        assert qs.audit("b ~ a + z", data=relation, term="a").n == 7
        assert len(qs.pairwise(relation.project("a, b, z"), drop=1)) == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_dates_and_times_are_days_whoever_holds_them(library):
    days = np.array(["1970-01-02", "1970-01-03T12", "NaT", "1970-02-01", "1970-02-02"], "M8[us]")
    y = [1.0, 2.5, 4, 31, 30]
    if library == "numpy":
        result = qs.solve(days, y, k=4, nan_policy="omit")
    else:
        made = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
        make = made.get(library) or pytest.importorskip("pyarrow").table
        result = qs.solve(data=make({"day": days, "y": y}), x="day", y="y", k=4, nan_policy="omit")
    np.testing.assert_array_equal(result.x, [1, 2.5, np.nan, 31, 32])
    assert result.slope == pytest.approx(np.polyfit([1, 2.5, 31, 32], [1, 2.5, 31, 30], 1)[0])


def test_times_with_a_zone_and_calendar_dates_are_days_too():
    zoned = pd.Series(pd.date_range("1970-01-02", periods=5, tz="Europe/Madrid"))
    assert qs.solve(zoned, Y, k=5).x[1] == pytest.approx(2 - 1 / 24)
    dates = pl.Series("day", [0, 1, 5, 7, 9]).cast(pl.Date)
    np.testing.assert_array_equal(qs.solve(dates, Y, k=5).x, [0, 1, 5, 7, 9])


def test_of_a_lazy_table_only_the_columns_named_are_collected(tmp_path):
    file = tmp_path / "t.csv"
    pl.DataFrame({"a": X, "b": Y, "c": list("abcde")}).write_csv(file)
    result = qs.solve(data=pl.scan_csv(file), x="a", y="b", k=4)
    assert result.value == qs.solve(X, Y, k=4).value
    assert result.to_frame().columns == ["a", "b", "inlier"]
    with pytest.raises(ValueError, match="no column 'd'"):
        qs.solve(data=pl.scan_csv(file), x="d", y="b", k=4)
