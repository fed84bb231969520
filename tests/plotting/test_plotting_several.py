"""Pictures of several predictors: what is on them."""

import matplotlib as mpl
import numpy as np
import pytest

import quadsweep as qs
from quadsweep.plotting.several import added_variable

mpl.use("Agg")


@pytest.fixture
def result():
    return qs.solve(qs.datasets.load("stack-loss"), objective="lts", method="exhaustive")


def test_fitted_against_observed_marks_the_dropped_rows(result):
    ax = result.plot()
    kept, dropped = (c.get_offsets() for c in ax.collections)
    assert (len(kept), len(dropped)) == (17, 4)
    np.testing.assert_allclose(dropped[:, 1], result.y[result.outliers])
    assert {t.get_text() for t in ax.texts} == {"day 1", "day 3", "day 4", "day 21"}


def test_residuals_are_those_of_the_plane_of_the_rows_kept(result):
    ax = result.plot(kind="residuals")
    drawn = ax.collections[0].get_offsets()[:, 1]
    np.testing.assert_allclose(drawn, result.residuals[result.inliers])
    assert abs(drawn.sum()) < 1e-9


def test_the_line_of_an_added_variable_plot_is_the_coefficient(result):
    for j, name in enumerate(result.names[:-1]):
        across, up = added_variable(result, j)
        slope = np.polyfit(across[result.inliers], up[result.inliers], 1)[0]
        assert slope == pytest.approx(result.coef[j], rel=1e-9)
        assert result.plot(predictor=name).get_xlabel() == f"{name} given the others"


def test_panels_have_one_picture_for_each_predictor(result):
    figure = result.panels()
    assert sum(ax.axison for ax in figure.axes) == 5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "pie"}, "kind must be one of fitted, residuals, added; got 'pie'"),
        ({"kind": "added"}, "predictor must be one of air flow"),
        ({"predictor": "wind"}, "got 'wind'"),
        ({"kind": "fitted", "predictor": "air flow"}, "predictor is for kind 'added'"),
    ],
)
def test_misuse_is_one_sentence(result, options, says):
    with pytest.raises(ValueError, match=says):
        result.plot(**options)


def test_names_that_look_like_formulas_are_drawn_as_they_are():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20, 2))
    frame = {"$\\frac{1$": X[:, 0], "a_b^{": X[:, 1], "$": X @ [1.0, 2.0] + rng.normal(size=20)}
    import pandas as pd

    names = list(frame)
    result = qs.solve(names[:2], names[2], data=pd.DataFrame(frame), drop=2)
    figure = result.panels()
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == [str(i) for i in result.outliers]
    mpl.pyplot.close(figure)
