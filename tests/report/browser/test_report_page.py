"""The report in a real browser, with the engine and without: it moves, and it stays at home."""

import json
from pathlib import Path

import numpy as np
import pytest
from live_engine import needs_engine
from live_page import HOSTILE, opened, settle, text, width_on_a_phone
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from quadsweep import datasets
from quadsweep.inputs.frames import Columns
from quadsweep.report import gather, live, to_html

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report():
    data = datasets.load("phone-calls")
    return gather(
        Columns(data.x, data.y, data.names, data.labels), drop=6, source="phone-calls",
        command="quadsweep report phone-calls --drop 6",
    )  # fmt: skip


@pytest.fixture(params=[False, pytest.param(True, marks=needs_engine)], ids=["fixed", "engine"])
def has_engine(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(live.page, "_ENGINE_BINARY", Path("no engine"))
    return request.param


@pytest.fixture
def page(driver, report, tmp_path, has_engine):
    opened(driver, tmp_path, to_html(report))
    settle(driver)
    return driver


def shown(page):
    """What the page says and draws at the slider's present position."""
    settle(page)
    crosses = page.find_element(By.CSS_SELECTOR, "#scatter .cross").get_attribute("d") or ""
    return {
        "kept": text(page, "kept"),
        "value": float(text(page, "value")),
        "count": text(page, "count"),
        "rows": [li.text for li in page.find_elements(By.CSS_SELECTOR, "#rows li")],
        "crosses": crosses.count("M") // 2,
        "curve": page.find_element(By.CSS_SELECTOR, "#scatter .curve").get_attribute("d"),
        "spot": page.find_element(By.CSS_SELECTOR, "#path .spot").get_attribute("cx"),
    }


def test_opens_at_the_answer_asked_for(page, report):
    state = shown(page)
    assert state["kept"] == "18 of 24"
    assert state["value"] == pytest.approx(report.answer.value, rel=1e-5)
    assert state["rows"] == ["1964", "1965", "1966", "1967", "1968", "1969"]
    assert state["crosses"] == 6
    assert state["curve"].startswith("M")


def test_the_slider_moves_by_keyboard_and_figures_and_picture_change_together(page, report):
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    assert shown(page)["kept"] == "24 of 24"
    seen = set()
    for step in report.steps:
        state = shown(page)
        assert state["crosses"] == len(step.outliers)
        assert state["rows"] == [str(step.label(r)) for r in step.outliers]
        assert state["value"] == pytest.approx(step.value, rel=1e-5)
        assert state["count"] == f"{len(step.outliers)} of 24 dropped"
        assert (state["curve"] != "") == (step.conic is not None)
        seen.add(state["spot"])
        slider.send_keys(Keys.ARROW_RIGHT)
    assert len(seen) == len(report.steps)


def test_without_the_engine_nothing_asks_for_it(page, report, has_engine):
    asking = ("run-path", "run-audit", "objective", "undo", "file", "how")
    seen = [page.find_element(By.ID, name).is_displayed() for name in asking]
    assert seen == [has_engine] * len(asking)
    assert page.find_element(By.ID, "save-csv").is_displayed()
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.END)
    if not has_engine:
        assert shown(page)["rows"] == [str(i) for i in report.steps[-1].outliers + 1950]
        page.find_element(By.ID, "scatter").click()
        assert text(page, "count") == "12 of 24 dropped"
    assert page.find_elements(By.CSS_SELECTOR, "#path .band")


def test_sizes_between_those_computed_are_left_out_without_the_engine(driver, tmp_path, has_engine):
    x, y = np.random.default_rng(4).normal(size=(2, 300))
    opened(driver, tmp_path, to_html(gather(x, y, drop=3, permutations=0, time_limit=20)))
    settle(driver)
    slider = driver.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * 3)
    counted = int(text(driver, "count").split()[0])
    assert counted == 3 if has_engine else counted > 3
    assert shown(driver)["crosses"] == counted


def test_the_keyboard_reaches_the_slider(page, has_engine):
    body = page.find_element(By.TAG_NAME, "body")
    for _ in range(1 if not has_engine else 9):
        body.send_keys(Keys.TAB)
        if page.switch_to.active_element.get_attribute("id") == "slider":
            break
    assert "6 of 24 points dropped" in page.switch_to.active_element.get_attribute("aria-valuetext")


def test_the_line_drawn_is_the_line_stated(page, report):
    fit = page.find_element(By.CSS_SELECTOR, "#scatter .fit")
    x1, x2, y1, y2 = (float(fit.get_attribute(a)) for a in ("x1", "x2", "y1", "y2"))
    x, y = report.answer.x, report.answer.y
    rise = (y1 - y2) * np.ptp(y) * 1.12 / (444 - 12)
    run = (x2 - x1) * np.ptp(x) * 1.12 / (785 - 74)
    assert rise / run == pytest.approx(report.answer.slope, rel=1e-6)


def test_says_nothing_on_the_console_and_asks_nothing_of_the_network(page):
    page.find_element(By.ID, "slider").send_keys(Keys.END, Keys.HOME)
    assert page.get_log("browser") == []
    sent = [
        json.loads(entry["message"])["message"]["params"]["request"]["url"]
        for entry in page.get_log("performance")
        if json.loads(entry["message"])["message"]["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in sent if not url.startswith(("file:", "data:", "blob:"))] == []


def test_text_from_the_data_stays_text(driver, tmp_path, has_engine):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    y[3] = np.nan
    labels = [f"{HOSTILE}{i}" for i in range(12)]
    report = gather(
        Columns(x, y, (HOSTILE, HOSTILE + "y"), labels), drop=2, source=HOSTILE, command=HOSTILE
    )
    page = opened(driver, tmp_path, to_html(report))
    assert page.execute_script("return window.broken") is None
    assert page.get_log("browser") == []
    assert page.find_element(By.TAG_NAME, "h1").text == f"{HOSTILE}y against {HOSTILE}"
    assert shown(page)["rows"] == [labels[i] for i in report.answer.outliers]
    assert page.find_elements(By.TAG_NAME, "img") == []


def test_dark_mode_changes_paper_and_ink(page):
    def paper():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    colours = {}
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        colours[scheme] = paper()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 20, 25)"}


def test_fits_a_phone_without_scrolling_sideways(page):
    assert width_on_a_phone(page) <= 360


def test_prints_without_the_slider(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = page.find_element(By.ID, "slider").is_displayed()
    pictured = page.find_element(By.ID, "scatter").is_displayed()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert pictured
    assert not visible
