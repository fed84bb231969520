"""Other methods beside the optimum."""

import json
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep.paper.compare import COMPARATORS, LineEstimate


@pytest.fixture(scope="module")
def table():
    data = qs.datasets.load("phone-calls")
    return qs.compare(data.x, data.y, data.k)


def test_every_comparator_has_a_row_and_the_optimum_is_first(table):
    assert [row.method for row in table.rows] == ["certified", *COMPARATORS]
    assert table.status == "finished"
    assert table.rows[0].optimal
    assert table["certified"].correlation == pytest.approx(table.result.value**0.5)
    with pytest.raises(KeyError):
        table["nothing"]


def test_no_method_beats_the_certified_optimum(table):
    best = table.result.value
    for row in table.rows[1:]:
        if row.r2 is not None:
            assert row.r2 <= best + 1e-9
            assert row.optimal == (row.r2 >= best - 1e-9)
            assert row.subset.sum() == table.k


def test_rank_correlations_have_no_subset(table):
    for name in ("spearman", "kendall", "quadrant", "biweight"):
        assert table[name].r2 is None
        assert table[name].optimal is None
        assert -1 <= table[name].correlation <= 1


def test_a_line_is_judged_by_the_points_nearest_to_it():
    x, y = np.arange(6.0), np.array([0.0, 1, 2, 3, 9, 5])
    kept = LineEstimate(slope=1.0, intercept=0.0).kept(x, y, 4)
    assert np.flatnonzero(kept).tolist() == [0, 1, 2, 3]
    own = np.array([True, True, True, True, False, False])
    assert LineEstimate(own, 1.0, 0.0).kept(x, y, 4) is own
    assert LineEstimate(own, 1.0, 0.0).kept(x, y, 5).sum() == 5
    assert LineEstimate(correlation=0.5).kept(x, y, 4) is None


def test_some_methods_can_be_chosen():
    some = qs.compare([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1, methods=["lts", "pearson"])
    assert [row.method for row in some.rows] == ["certified", "lts", "pearson"]
    assert some["lts"].optimal


def test_a_missing_library_is_named_and_nothing_fails(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    table = qs.compare([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1, methods=["theil_sen"])
    assert table["theil_sen"].r2 is None
    assert "needs sklearn" in table.summary()


def test_limits_keep_the_rows_made_so_far():
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    chosen = ["pearson", "spearman", "kendall"]
    stopped = qs.compare(x, y, 10, methods=chosen, progress=lambda done, *_: done < 2)
    assert stopped.status == "interrupted"
    assert [row.method for row in stopped.rows] == ["certified", "pearson", "spearman"]
    none = qs.compare(x, y, 10, methods=chosen, time_limit=0)
    assert none.status == "time_limit"
    assert len(none.rows) == 1
    assert "not proved" in none.summary()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"methods": ["best"]}, ValueError, "methods must be among anneal_published.*got 'best'"),
        ({"methods": "lts"}, TypeError, "sequence of names"),
        ({"k": None}, ValueError, "exactly one of k"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, error, says):
    with pytest.raises(error, match=says):
        qs.compare([1, 2, 3, 4], [1, 2, 4, 3], **{"k": 3, **options})


def test_it_tells_itself_as_text_html_json_frame_and_picture(table):
    assert str(table).splitlines()[0].startswith("method")
    assert "other methods that choose points; nearest to the lines of" in table.summary()
    assert table._repr_html_().count("<tr>") == 1 + len(table.rows) + len(table.summary_items())
    told = json.loads(json.dumps(table.to_dict()))
    assert told["rows"][0]["optimal"] is True
    assert told["rows"][-1]["r2"] is None
    frame = table.to_frame()
    assert frame["method"].tolist() == [row.method for row in table.rows]
    ax = Figure().subplots()
    assert table.plot(ax=ax) is ax
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert sum("R²" in text for text in labels) == 8
