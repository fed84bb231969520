"""Names and formulas instead of columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import quadsweep as qs


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 24))
    group = np.array(list("uvw") * 8)
    y = a + 2 * b + (group == "v") * 3 + 0.01 * rng.normal(size=24)
    y[5] += 9
    return pd.DataFrame(
        {"a": a, "b": b, "group": group, "y": y}, index=[f"r{i}" for i in range(24)]
    )


@pytest.mark.parametrize("library", [lambda f: f, pl.from_pandas], ids=["pandas", "polars"])
def test_columns_by_name(frame, library):
    given = library(frame)
    result = qs.solve(data=given, x=["a", "b"], y="y", drop=9)
    assert result.names == ("a", "b", "y")
    array = qs.solve(frame[["a", "b"]].to_numpy(), frame["y"].to_numpy(), drop=9)
    assert result.inliers.tolist() == array.inliers.tolist()
    back = result.to_frame()
    assert list(back.columns) == ["a", "b", "group", "y", "inlier"]
    assert type(back) is type(given)


def test_one_name_is_one_predictor(frame):
    result = qs.solve(data=frame, x="a", y="y", drop=3)
    assert result.names == ("a", "y")
    assert result.slope is not None
    assert result.label(5) == "r5"


def test_a_frame_of_predictors_beside_y(frame):
    result = qs.solve(frame[["a", "b"]], frame["y"], drop=9)
    assert result.names == ("a", "b", "y")
    assert result.to_frame().columns.tolist() == ["a", "b", "y", "inlier"]
    mixed = qs.solve(frame[["a", "b"]].to_numpy(), frame["y"], drop=9)
    assert mixed.names == ("x1", "x2", "y")
    assert mixed.label(5) == "r5"


def test_a_formula_makes_dummies_and_predicts_new_rows(frame):
    result = qs.solve("y ~ a + b + C(group)", data=frame, drop=1)
    assert result.names == ("a", "b", "C(group)[T.v]", "C(group)[T.w]", "y")
    assert result.outliers.tolist() == [5]
    np.testing.assert_allclose(result.coef, [1, 2, 3, 0], atol=0.02)
    new = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0], "group": ["v", "w"]})
    np.testing.assert_allclose(result.predict(new), [4, 2], atol=0.05)
    with_names = qs.solve(data=frame, x=["a", "b"], y="y", drop=9)
    np.testing.assert_allclose(with_names.predict(frame), frame["y"] - with_names.residuals)


def test_a_formula_of_one_predictor_is_a_line_and_minus_one_is_no_intercept(frame):
    assert qs.solve("y ~ a", data=frame, drop=3).conic is not None
    through = qs.solve("y ~ a + b - 1", data=frame, drop=9)
    assert not through.fit_intercept
    assert through.intercept == 0
    same = qs.solve(data=frame, x=["a", "b"], y="y", drop=9, fit_intercept=False)
    np.testing.assert_allclose(through.coef, same.coef)


def test_missing_values_are_refused_or_left_out_as_everywhere(frame):
    frame.loc["r3", "group"] = None
    with pytest.raises(ValueError, match="1 rows with NaN or infinity, the first at index 3"):
        qs.solve("y ~ a + C(group)", data=frame, drop=5)
    result = qs.solve("y ~ a + C(group)", data=frame, drop=5, nan_policy="omit")
    assert result.omitted.tolist() == [3]


def test_a_data_set_is_accepted_as_it_is():
    data = qs.datasets.load("stars-cyg")
    for result in (qs.solve(data), qs.solve(data=data), qs.solve(data, drop=4)):
        assert result.outliers.tolist() == [10, 19, 29, 33]
        assert result.names == data.names
    assert qs.solve(data, k=40).k == 40


@pytest.mark.parametrize(
    ("x", "y", "error", "says"),
    [
        ("aa", "y", ValueError, "data has no column 'aa'; did you mean 'a'?"),
        (["a", "zebra"], "y", ValueError, "no column 'zebra'; there are: a, b, group, y"),
        ("y ~ a", "y", ValueError, "left out beside a formula"),
        ("y ~ nothing", None, ValueError, "cannot be evaluated"),
        ("~ a", None, ValueError, "the outcome on the left"),
        ("y ~ 1", None, ValueError, "needs a predictor"),
        (3, "y", TypeError, "x must be the name of a column"),
        (["a", "group"], "y", TypeError, "column 'group' must hold real numbers"),
    ],
)
def test_misuse_is_one_sentence(frame, x, y, error, says):
    with pytest.raises(error, match=says) as caught:
        qs.solve(x, y, data=frame, drop=5)
    assert "\n" not in str(caught.value)


def test_names_without_a_frame_are_refused(frame):
    with pytest.raises(TypeError, match="a formula needs the data frame of its columns"):
        qs.solve("y ~ a", drop=1)
    with pytest.raises(ValueError, match="give the frame they are in as data="):
        qs.solve("a", "y", drop=1)
    with pytest.raises(TypeError, match="give x and y, or data="):
        qs.solve(drop=1)
    with pytest.raises(TypeError, match="data must be a data frame; got ndarray"):
        qs.solve("a", "y", data=np.ones((4, 2)), drop=1)
    with pytest.raises(ValueError, match="leave fit_intercept"):
        qs.solve("y ~ a", data=frame, drop=1, fit_intercept=False)


def test_a_word_among_numbers_makes_no_dummies_and_may_stand_for_a_missing_value(frame):
    odd = frame.astype({"a": object})
    odd.iloc[5, 0] = "unknown"
    with pytest.raises(TypeError, match=r"column 'a' must hold real numbers; got 'unknown' at ind"):
        qs.audit("y ~ a + b", odd, term="a")
    missing = odd.replace("unknown", None)
    found = qs.audit("y ~ a + b", missing, term="a", nan_policy="omit")
    assert found.upper == qs.audit("y ~ a + b", frame.drop("r5"), term="a").upper
    assert "C(a)[T.unknown]" in qs.inputs.formulas.columns("y ~ C(a)", odd).names
