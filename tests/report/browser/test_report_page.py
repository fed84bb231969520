"""The report in a real browser: it moves, it agrees with itself, it stays at home."""

import json

import numpy as np
import pytest
from live_page import width_on_a_phone
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from quadsweep import datasets
from quadsweep.inputs.frames import Columns
from quadsweep.report import gather, to_html

pytestmark = pytest.mark.slow

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>&amp;"


@pytest.fixture(scope="module")
def report():
    data = datasets.load("phone-calls")
    return gather(
        Columns(data.x, data.y, data.names, data.labels), drop=6, source="phone-calls",
        command="quadsweep report phone-calls --drop 6",
    )  # fmt: skip


@pytest.fixture
def page(driver, report, tmp_path):
    return opened(driver, tmp_path, report)


def opened(driver, folder, report):
    driver.get_log("browser")
    driver.get_log("performance")
    file = folder / "report.html"
    file.write_text(to_html(report), encoding="utf-8")
    driver.get(file.as_uri())
    return driver


def text(page, name):
    return page.find_element(By.ID, name).text


def shown(page):
    """What the page says and draws at the slider's present position."""
    rows = [li.text for li in page.find_elements(By.CSS_SELECTOR, "#rows li")]
    crosses = page.find_elements(By.CSS_SELECTOR, "#scatter g.out")
    return {
        "kept": text(page, "kept"),
        "value": text(page, "value"),
        "line": text(page, "line"),
        "count": text(page, "count"),
        "rows": rows,
        "crosses": sorted(int(c.get_attribute("data-row")) for c in crosses),
        "curve": page.find_element(By.CSS_SELECTOR, "#scatter .curve").get_attribute("d"),
        "spot": page.find_element(By.CSS_SELECTOR, "#path .spot").get_attribute("cx"),
    }


def test_opens_at_the_answer_asked_for(page, report):
    state = shown(page)
    assert state["kept"] == "18 of 24"
    assert float(state["value"]) == pytest.approx(report.answer.value, rel=1e-5)
    assert state["rows"] == ["1964", "1965", "1966", "1967", "1968", "1969"]
    assert state["crosses"] == report.answer.outliers.tolist()
    assert state["curve"].startswith("M")


def test_the_slider_moves_by_keyboard_and_figures_and_picture_change_together(page, report):
    slider = page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    assert shown(page)["kept"] == "24 of 24"
    assert shown(page)["crosses"] == []
    seen = set()
    for i, step in enumerate(report.steps):
        state = shown(page)
        assert state["crosses"] == step.outliers.tolist(), i
        assert state["rows"] == [str(step.label(r)) for r in step.outliers]
        assert float(state["value"]) == pytest.approx(step.value, rel=1e-5)
        assert state["count"] == f"{len(step.outliers)} of 24 dropped"
        assert (state["curve"] != "") == (step.conic is not None)
        assert text(page, "boundary") == ("none found" if step.conic is None else step.conic.kind)
        seen.add(state["spot"])
        slider.send_keys(Keys.ARROW_RIGHT)
    assert len(seen) == len(report.steps)


def test_the_keyboard_reaches_the_slider_first(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert page.switch_to.active_element.get_attribute("id") == "slider"
    assert "6 of 24 points dropped" in page.switch_to.active_element.get_attribute("aria-valuetext")


def test_the_band_of_noise_and_the_p_value_are_shown(page):
    assert page.find_element(By.CSS_SELECTOR, "#path .band").get_attribute("d").endswith("Z")
    before = text(page, "surprise")
    page.find_element(By.ID, "slider").send_keys(Keys.HOME)
    assert before != text(page, "surprise")
    assert "With 24 points kept, p = " in text(page, "surprise")


def test_the_line_drawn_is_the_line_stated(page, report):
    fit = page.find_element(By.CSS_SELECTOR, "#scatter .fit")
    x1, x2, y1, y2 = (float(fit.get_attribute(a)) for a in ("x1", "x2", "y1", "y2"))
    data = json.loads(page.find_element(By.ID, "data").get_attribute("textContent"))
    (left, right), (low, high) = data["xlim"], data["ylim"]
    rise = (y1 - y2) * (high - low) / (444 - 12)
    run = (x2 - x1) * (right - left) / (785 - 74)
    assert rise / run == pytest.approx(report.answer.slope, rel=1e-6)


def test_says_nothing_on_the_console_and_asks_nothing_of_the_network(page):
    page.find_element(By.ID, "slider").send_keys(Keys.END, Keys.HOME)
    assert page.get_log("browser") == []
    sent = [
        json.loads(entry["message"])["message"]["params"]["request"]["url"]
        for entry in page.get_log("performance")
        if json.loads(entry["message"])["message"]["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in sent if not url.startswith(("file:", "data:"))] == []


def test_text_from_the_data_stays_text(driver, tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    y[3] = np.nan
    labels = [f"{HOSTILE}{i}" for i in range(12)]
    report = gather(
        Columns(x, y, (HOSTILE, HOSTILE + "y"), labels), drop=2, source=HOSTILE, command=HOSTILE
    )
    page = opened(driver, tmp_path, report)
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
