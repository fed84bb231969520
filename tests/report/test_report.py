"""The report page without a browser: what is in it and what is not."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from quadsweep import datasets
from quadsweep.cli import main
from quadsweep.inputs.frames import Columns
from quadsweep.report import content, gather, live, to_html
from quadsweep.report.content import MOST_STEPS, drops_for


def embedded(page):
    found = re.search(r'<script id="live-data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1])


@pytest.fixture(scope="module")
def page():
    data = datasets.load("anscombe-3")
    return to_html(gather(Columns(data.x, data.y, data.names), drop=1))


def test_asks_nothing_of_the_network(page):
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r"<(link|script|img|iframe)[^>]+(src|href)=[\"'](?!data:)", page)
    assert "default-src 'none'" in page


def test_has_an_answer_for_every_number_dropped(page):
    (table,) = embedded(page)["tables"]
    answers = table["known"]["answers"]
    assert [one["drop"] for one in answers] == [0, 1, 2, 3, 4, 5]
    assert table["drop"] == 1
    assert answers[1]["outliers"] == [2]
    assert answers[1]["value"] == pytest.approx(0.99999311, abs=1e-8)


def test_without_a_number_it_starts_where_a_rule_says_and_says_which():
    data = datasets.load("anscombe-3")
    report = gather(data.x, data.y)
    assert report.answer.k == report.path.suggestions()["elbow"]
    assert "the curve below bends most" in to_html(report)
    noise = np.random.default_rng(3).uniform(size=(2, 40))
    page = gather(*noise)
    assert page.answer.k == 40
    lead = re.search(r'<p class="lead">(.*?)</p>', to_html(page))[1]
    assert lead.startswith("The path does not rise above noise (p = ")
    assert "Nothing is dropped (noise alone would do as well): R² of all 40 points is" in lead
    report = gather(data.x, data.y, permutations=0)
    assert report.answer.outliers.tolist() == [2]


def test_says_first_whether_any_row_stands_out_of_a_line():
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = 2 * x + rng.normal(size=30)
    report = gather(x, y, permutations=39)
    lead = re.search(r'<p class="lead">(.*?)</p>', to_html(report))[1]
    p = f"{report.line.overall:.3g}"
    assert lead.startswith(
        f"No row stands out from a clean line with this noise (p = {p}). Nothing is dropped: R²"
    )
    assert "no outliers: a clean line of this noise gains as much" in to_html(report)
    y[np.argmin(np.abs(x))] += 20
    report = gather(x, y, permutations=39)
    assert report.answer.n - report.answer.k == report.line.n_outliers == 1
    assert "This is how many rows stand out from a clean line" in to_html(report)


def test_tells_how_surprising_the_path_is_and_how_few_rows_carry_the_finding(page):
    path = embedded(page)["path"]
    assert "99 shufflings of y" in path["told"]
    assert len(path["noise"]["low"]) == len(path["drops"]) == 6
    assert "How few rows it depends on" in page
    assert "reverses the sign" in page


def test_shows_what_other_methods_find(page):
    assert "Other methods on the same points" in page
    assert "<td>certified</td>" in page
    assert "<td>pearson</td>" in page


@pytest.mark.parametrize("objective", ["r", "cov", "dv", "tv", "var", "lts"])
def test_every_objective_has_a_page(objective):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    report = gather(x, y, drop=2, objective=objective, permutations=9)
    assert embedded(to_html(report))["tables"][0]["drop"] == 2


def test_long_ranges_are_thinned_and_keep_what_was_asked():
    drops = drops_for(10_000, 3, 1234)
    assert len(drops) <= MOST_STEPS + 1
    assert 1234 in drops
    assert drops[0] == 0
    assert drops[-1] == 5000
    assert drops_for(5, 3, None) == [0, 1, 2]


def test_many_points_without_the_engine_are_a_picture(monkeypatch):
    monkeypatch.setattr(live.page, "_ENGINE_BINARY", Path("no engine"))
    x, y = np.random.default_rng(0).normal(size=(2, 6000))
    y[:5] += 100
    page = to_html(gather(x, y, drop=5, objective="tv", permutations=0))
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "<script" not in page


def test_missing_rows_are_counted():
    x, y = [1, 2, None, 4, 5, 6], [1, 2, 3, 4, 9, 6]
    page = to_html(gather(Columns(x, y, labels=list("abcdef")), drop=1))
    assert "1 rows with missing or infinite values left out" in page
    assert embedded(page)["tables"][0]["known"]["answers"][1]["outliers"] == [3]


def test_the_command_writes_the_page(tmp_path, capsys):
    output = tmp_path / "r.html"
    assert main(["report", "anscombe-3", "-o", str(output)]) == 0
    assert f"wrote {output}" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["report", "anscombe-3", "-o", str(tmp_path / "no" / "r.html")]) == 2


def test_columns_near_the_largest_numbers_have_a_page():
    x = np.arange(12.0)
    with np.errstate(over="ignore"):
        page = to_html(gather(x, 1e160 * np.sin(x), drop=1, permutations=0))
    assert len(embedded(page)["tables"][0]["known"]["answers"]) == 7


def test_few_shuffles_allow_no_verdict_on_the_page():
    x = np.linspace(0, 1, 20)
    page = to_html(gather(x, x + 0.01 * np.sin(50 * x), drop=1, permutations=5))
    assert "does not rise above noise" not in page
    assert "No verdict from 5 shuffles" in page


def test_infinite_values_are_not_called_missing():
    page = to_html(gather([1, 2, np.inf, 4, 5, 6], [1, 2, 3, 4, 9, 6], drop=1, permutations=0))
    assert "1 rows with missing or infinite values left out" in page


def test_several_predictors_are_refused_in_a_sentence():
    data = datasets.load("stack-loss")
    with pytest.raises(ValueError, match="a report is of one predictor; choose one of air flow"):
        gather(Columns(data.x, data.y, data.names))
    assert main(["report", "stack-loss"]) == 2


def test_an_interrupted_page_says_so_and_begins_nothing_more(monkeypatch):
    ask = content.path

    def stop_after_two(*given, **settings):
        return ask(*given, **{**settings, "progress": lambda done, *_: done < 2, "n_jobs": 1})

    monkeypatch.setattr(content, "path", stop_after_two)
    x, y = np.random.default_rng(0).normal(size=(2, 80))
    report = gather(x, y)
    assert report.comparison is None
    assert report.line is None
    assert "Interrupted: the page holds what was finished by then." in to_html(report)
