"""Pictures: what is on them, and that they leave everything else alone."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep import objectives
from quadsweep.demo import solved


@pytest.fixture
def ax():
    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def test_result_shows_kept_and_dropped_in_shapes_and_colours_of_their_own(ax):
    solved("phone-calls").plot(ax=ax)
    kept, dropped = (c for c in ax.collections if len(c.get_offsets()) in (18, 6))
    assert len(kept.get_paths()[0].vertices) != len(dropped.get_paths()[0].vertices)
    assert kept.get_facecolor().tolist() != dropped.get_facecolor().tolist()
    assert kept.get_label() == "kept (18)"
    assert dropped.get_label() == "dropped (6)"


def test_result_shows_both_lines_and_the_conic_once_each_in_the_legend(ax):
    solved("phone-calls").plot(ax=ax)
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == [
        "boundary (hyperbola)", "kept (18)", "dropped (6)", "line of all", "line of kept",
    ]  # fmt: skip


def test_the_title_states_value_k_and_certificate(ax):
    result = solved("phone-calls")
    result.plot(ax=ax)
    title = ax.get_title(loc="left")
    assert "R² = 0.8369" in title
    assert "k = 18 of 24" in title
    assert "proved optimal" in title
    ax.clear()
    replace(result, status="time_limit", gap=0.125).plot(ax=ax)
    assert "time limit, gap 0.12" in ax.get_title(loc="left")


def test_dropped_points_are_named_where_names_are_known(ax):
    solved("animals").plot(ax=ax)
    assert {t.get_text() for t in ax.texts} == {"Diplodocus", "Triceratops", "Brachiosaurus"}


def test_a_value_just_below_one_is_not_called_one(ax):
    solved("anscombe-3").plot(ax=ax)
    assert "R² = 0.99999" in ax.get_title(loc="left")


@pytest.mark.parametrize("objective", objectives.OBJECTIVES)
def test_every_objective_can_be_drawn(objective, ax):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    result = qs.solve(x, y, 8, objective=objective, method="exhaustive")
    assert result.plot(ax=ax) is ax
    ax.figure.canvas.draw()


@pytest.mark.parametrize("y", [[1, 1, 1, 1, 2], [1, 2, np.nan, 4, 5]])
def test_ties_and_missing_rows_can_be_drawn(y, ax):
    qs.solve([1, 2, 3, 4, 4], y, 3, nan_policy="omit").plot(ax=ax)
    ax.figure.canvas.draw()


def test_drawing_leaves_global_state_alone(ax):
    import matplotlib.pyplot as plt

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    solved("animals").plot(ax=ax)
    solved("animals").conic.plot(ax=ax)
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures


def test_drawing_what_helps_to_choose_leaves_global_state_alone():
    import matplotlib.pyplot as plt

    x, y = np.random.default_rng(0).uniform(size=(2, 16))
    path = qs.path(x, y, permutations=5)
    drawn = [
        path,
        path.noise,
        qs.significance(x, y, 12, permutations=9),
        qs.stability(x, y, 12, resamples=5),
        qs.compare(x, y, 12, methods=["pearson", "lts"]),
    ]
    before, figures = dict(mpl.rcParams), plt.get_fignums()
    for answer in drawn:
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        assert answer.plot(ax=axes) is axes
        figure.canvas.draw()
        assert axes.get_title(loc="left")
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures


def test_without_axes_a_new_figure_is_made():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        axes = solved("anscombe-1").plot()
        assert axes.figure.number in plt.get_fignums()
        plt.close(axes.figure)


def test_a_conic_alone_shades_its_inner_side(ax):
    ax.set_xlim(-2, 2)
    ax.set_ylim(-2, 2)
    qs.Conic((-1, 0, -1, 0, 0, 1)).plot(ax=ax, color="black")
    ax.figure.canvas.draw()
    image = np.asarray(ax.figure.canvas.buffer_rgba())
    height = image.shape[0]

    def colour(x, y):
        column, row = ax.transData.transform((x, y)).astype(int)
        return image[height - row, column, :3].tolist()

    assert colour(0, 0) == colour(0.5, -0.5) != [255, 255, 255]
    assert colour(1.5, 0) == [255, 255, 255]
    assert ax.get_xlim() == (-2, 2)


def test_a_separation_shows_the_conic_or_the_points_that_rule_it_out(ax):
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    apart = qs.separate(x, y, x * x + y * y < 1, lift="L3t")
    apart.plot(ax=ax)
    assert "Separable under L3t, proved\nby this circle" in ax.get_title(loc="left")
    assert ax.lines
    ax.clear()
    data = qs.datasets.load("nonseparable-cov")
    meets = qs.separate(data.x, data.y, [0, 1, 2, 3, 5, 7], lift="L3c")
    meets.plot(ax=ax)
    assert "Not separable under L3c, proved" in ax.get_title(loc="left")
    assert sorted(t.get_text() for t in ax.texts) == ["28.6%", "28.6%", "71.4%", "71.4%"]
    areas = [size for c in ax.collections for size in c.get_sizes() if len(c.get_sizes()) == 2]
    assert max(areas) > 2 * min(areas)


def test_an_open_or_one_dimensional_separation_is_drawn_as_such(ax):
    x, y = np.random.default_rng(1).normal(size=(2, 40))
    qs.separate(x, y, range(20), time_limit=0).plot(ax=ax)
    assert "Not decided" in ax.get_title(loc="left")
    ax.clear()
    qs.separate(x, None, np.abs(x) < 1, lift="L2").plot(ax=ax)
    assert len(ax.get_yticks()) == 0


def test_titles_stay_within_the_picture():
    rng = np.random.default_rng(3)
    controls = {f"a control with a long name {i}": rng.normal(size=30) for i in range(4)}
    x, y = rng.normal(size=(2, 30))
    audit = qs.audit(x, y + x, controls=pd.DataFrame(controls))
    for answer in (audit, qs.audit(x, y + x, claim="significance")):
        ax = answer.plot()
        figure = ax.figure
        figure.canvas.draw()
        title = next(t for t in (ax._left_title, ax.title) if t.get_text())
        assert title.get_window_extent().x1 <= figure.bbox.x1
        assert figure.bbox.y1 >= title.get_window_extent().y1


@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_a_regression_with_a_link_has_curves(ax, link):
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = rng.poisson(np.exp(0.3 * x)) if link == "poisson" else rng.random(40) < 0.5 + 0.1 * x
    model = {"logit": sm.Logit, "poisson": sm.Poisson}[link]
    fitted = model(y.astype(float), sm.add_constant(x)).fit(disp=0)
    qs.audit(fitted, term="x1", time_limit=20).plot(ax=ax)
    everything, kept = (line.get_xydata() for line in ax.lines)
    expected = fitted.predict(sm.add_constant(everything[:, 0]))
    np.testing.assert_allclose(everything[:, 1], expected, rtol=1e-4)
    assert (expected[-1] - expected[0]) * (kept[-1, 1] - kept[0, 1]) < 0


def test_a_regression_without_controls_is_drawn_in_the_units_of_its_columns(ax):
    rng = np.random.default_rng(0)
    x = rng.normal(100, 1, size=30)
    frame = pd.DataFrame({"dose": x, "pain": x + rng.normal(size=30) - 50})
    qs.audit("pain ~ dose", frame, term="dose").plot(ax=ax)
    assert ax.get_xlabel() == "dose"
    assert 90 < ax.get_xlim()[0] < ax.get_xlim()[1] < 110
    line = next(line for line in ax.lines if line.get_label().startswith("line of all rows"))
    assert line.get_xy1()[1] == pytest.approx(np.polyfit(x, frame["pain"], 1)[1])


@pytest.mark.parametrize("name", ["stars-cyg", "stack-loss"])
def test_monitoring_plots_show_every_row_and_every_coefficient(ax, name):
    data = qs.datasets.load(name)
    walk = qs.path(data, objective="lts", drop=5)
    ends = walk.result(int(walk.k[-1]))
    np.testing.assert_allclose(walk.residuals[-1], ends.residuals, atol=1e-9)
    walk.plot(ax=ax, view="residuals")
    assert f"dropped at the last size ({len(ends.outliers)})" in {
        line.get_label() for line in ax.lines
    }
    other = Figure().subplots()
    walk.plot(ax=other, view="coefficients")
    curves = [line for line in other.lines if len(line.get_xdata()) == len(walk)]
    assert [line.get_label() for line in curves] == list(data.names[:-1])
    with pytest.raises(ValueError, match="view must be 'values'"):
        walk.plot(view="else")
