"""The report page without a browser: what is in it and what is not."""

import json
import re

import numpy as np
import pytest

from quadsweep import datasets
from quadsweep.cli import main
from quadsweep.report import gather, to_html
from quadsweep.report.content import MOST_STEPS, drops_for


def embedded(page):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1])


@pytest.fixture(scope="module")
def page():
    data = datasets.load("anscombe-3")
    return to_html(gather(data.x, data.y, drop=1, names=data.names))


def test_asks_nothing_of_the_network(page):
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r"<(link|script|img|iframe)[^>]+(src|href)=[\"'](?!data:)", page)
    assert "default-src 'none'" in page


def test_has_a_step_for_every_number_dropped(page):
    data = embedded(page)
    assert [f["drop"] for f in data["frames"]] == [0, 1, 2, 3, 4, 5]
    assert data["start"] == 1
    assert data["frames"][1]["out"] == [2]
    assert data["frames"][1]["value"] == pytest.approx(0.99999311, abs=1e-8)


def test_without_a_number_it_starts_where_the_gain_is_largest():
    data = datasets.load("anscombe-3")
    assert gather(data.x, data.y).answer.outliers.tolist() == [2]


def test_long_ranges_are_thinned_and_keep_what_was_asked():
    drops = drops_for(10_000, 3, 1234)
    assert len(drops) <= MOST_STEPS + 1
    assert 1234 in drops
    assert drops[0] == 0
    assert drops[-1] == 5000
    assert drops_for(5, 3, None) == [0, 1, 2]


def test_many_points_are_thinned_and_the_page_says_so():
    x, y = np.random.default_rng(0).normal(size=(2, 6000))
    y[:5] += 100
    report = gather(x, y, drop=5, method="concentrate", n_jobs=2)
    page = to_html(report)
    assert "5,000 of the 6,000 points are drawn" in page
    assert len(embedded(page)["points"]) == 5000


def test_missing_rows_are_named():
    report = gather([1, 2, None, 4, 5, 6], [1, 2, 3, 4, 9, 6], drop=1, labels=list("abcdef"))
    page = to_html(report)
    assert "1 rows with missing values left out" in page
    assert "Left out for missing values: c." in page


def test_the_command_writes_the_page(tmp_path, capsys):
    output = tmp_path / "r.html"
    assert main(["report", "anscombe-3", "-o", str(output)]) == 0
    assert f"wrote {output}" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["report", "anscombe-3", "-o", str(tmp_path / "no" / "r.html")]) == 2
