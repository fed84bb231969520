"""The question for every group, one table out."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import quadsweep as qs


def table(seed=0, groups="abc", rows=20):
    rng = np.random.default_rng(seed)
    site = np.repeat(list(groups), rows)
    x = rng.normal(size=len(site))
    y = np.where(site == "a", 2 * x, 0.0) + rng.normal(size=len(site))
    order = rng.permutation(len(site))
    return pd.DataFrame({"site": site[order], "t": x[order], "h": y[order]})


@pytest.mark.parametrize("library", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_every_group_is_answered_as_if_it_were_alone(library):
    frame = table()
    groups = qs.by(library(frame), "site", qs.solve, x="t", y="h", drop=2)
    assert set(groups) == set("abc")
    for name in groups:
        part = frame[frame.site == name]
        alone = qs.solve(part.t.to_numpy(), part.h.to_numpy(), drop=2)
        assert groups[name].value == alone.value
        rows = [groups[name].label(i) for i in groups[name].outliers]
        assert rows == part.index[alone.outliers].tolist()


def test_p_values_of_groups_are_those_of_each_alone():
    frame = table()
    groups = qs.by(frame, "site", qs.significance, x="t", y="h", drop=2, permutations=19)
    part = frame[frame.site == "b"]
    alone = qs.significance(part.t.to_numpy(), part.h.to_numpy(), drop=2, permutations=19)
    assert groups.to_frame().set_index("site").p_value["b"] == alone.p_value


def test_an_audit_of_every_group():
    frame = qs.by(table(), "site", qs.audit, x="t", y="h").to_frame().set_index("site")
    assert frame["drop"]["a"] > max(frame["drop"]["b"], frame["drop"]["c"])


def test_a_group_that_cannot_answer_says_why_and_leaves_the_others_standing():
    frame = pd.concat([table(), pd.DataFrame({"site": ["tiny"], "t": [1.0], "h": [2.0]})])
    groups = qs.by(frame, "site", qs.solve, x="t", y="h", drop=2)
    assert len(groups) == 3
    note = groups.to_frame().set_index("site").note
    assert note["tiny"]
    assert note["a"] == ""
    with pytest.raises(KeyError, match="tiny"):
        groups["tiny"]


def test_rows_without_a_group_belong_to_none():
    frame = table()
    frame.loc[frame.site == "b", "site"] = None
    assert set(qs.by(frame, "site", qs.solve, x="t", y="h", drop=2)) == {"a", "c"}


def test_groups_have_a_summary():
    groups = qs.by(table(), "site", qs.solve, x="t", y="h", drop=2)
    text = str(groups)
    assert "3 by site" in text
    assert "slope" in text.splitlines()[0]
    assert len(json.loads(json.dumps(groups.to_dict()))["groups"]) == 3
    axes = Figure().subplots()
    assert groups.plot(ax=axes) is axes
    assert [t.get_text() for t in axes.get_yticklabels()] == list(groups)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"column": "sight"}, ValueError, "no column 'sight'; did you mean 'site'?"),
        ({"data": [1, 2]}, TypeError, "data must be a data frame; got list"),
        ({"drop": 30}, ValueError, "no group of 'site' has an answer; the first: "),
    ],
)
def test_what_cannot_be_asked_is_named(change, error, message):
    asked = {"data": table(), "column": "site", "drop": 2, **change}
    with pytest.raises(error, match=message):
        qs.by(asked.pop("data"), asked.pop("column"), qs.solve, x="t", y="h", **asked)
