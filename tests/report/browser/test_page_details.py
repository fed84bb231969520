"""What a reader sees first: the known answer, names that cover nothing, samples, keys."""

import json

import pytest
from live_engine import needs_engine
from live_page import opened, settle, text
from selenium.webdriver.common.by import By

import quadsweep as qs
from quadsweep.exploring import dataset_table, page_of
from quadsweep.report import gather, to_html

ANIMALS = qs.datasets.load("animals")

# Middles of dots that a name covers, of the names shown.
COVERED = """
const boxes = (what) => [...document.querySelectorAll(what)].map((m) => m.getBoundingClientRect());
const marks = boxes("#scatter .mark"), path = document.querySelector("#scatter .dots");
const dots = [...path.getAttribute("d").matchAll(/M([-\\d.]+) ([-\\d.]+)/g)].map(([, x, y]) =>
  new DOMPoint(x, y).matrixTransform(path.getScreenCTM()));
const inside = (m, { x, y }) => {
  return x > m.left && x < m.right && y > m.top && y < m.bottom;
};
return [marks.length, marks.reduce((sum, m) => sum + dots.filter((d) => inside(m, d)).length, 0)];
"""


def as_phone(driver, on):
    """A narrow screen with a finger, or the usual one."""
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": on})
    if on:
        size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    else:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
@pytest.mark.parametrize("phone", [False, True])
def test_names_cover_no_points(driver, tmp_path, phone):
    page = to_html(gather(ANIMALS, drop=3, permutations=0))
    as_phone(driver, phone)
    opened(driver, tmp_path, page)
    assert driver.execute_script(COVERED) == [3, 0]
    wide = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert driver.execute_script(wide)
    as_phone(driver, False)


@pytest.mark.slow
def test_dropped_rows_have_their_values_beside_their_names(driver, tmp_path):
    report = gather(ANIMALS, drop=3, permutations=0)
    opened(driver, tmp_path, to_html(report))
    rows = driver.find_elements(By.CSS_SELECTOR, "#rows li")
    x, y = ANIMALS.x, ANIMALS.y
    expected = [f"{ANIMALS.names[0]} {x[i]:.4g}, {ANIMALS.names[1]} {y[i]:.4g}"
                for i in report.answer.outliers]  # fmt: skip
    assert [row.get_attribute("data-values") for row in rows] == expected
    shown = 'return getComputedStyle(document.querySelector("#rows li"), "::after").content'
    assert "attr(data-values)" in driver.execute_script(shown) or expected[0] in (
        driver.execute_script(shown)
    )


@needs_engine
@pytest.mark.slow
def test_the_known_answer_is_there_before_the_engine_has_answered(driver, tmp_path):
    report = gather(ANIMALS, drop=3, permutations=0)
    page = to_html(report, dataset_table("animals"))
    broken = page.replace("new Worker(source)", "null")  # no engine will ever answer
    assert broken != page
    opened(driver, tmp_path, broken)
    settle(driver)
    assert text(driver, "proof") == "proved optimal"
    assert float(text(driver, "value")) == pytest.approx(report.answer.value, rel=1e-5)
    rows = [row.text for row in driver.find_elements(By.CSS_SELECTOR, "#rows li")]
    assert rows == [ANIMALS.labels[i] for i in report.answer.outliers]


@needs_engine
@pytest.mark.slow
def test_other_questions_still_go_to_the_engine(driver, tmp_path):
    report = gather(ANIMALS, drop=3, permutations=0)
    opened(driver, tmp_path, to_html(report, dataset_table("animals")))
    settle(driver)
    driver.execute_script(
        "const s = document.getElementById('slider'); s.value = 4;"
        "s.dispatchEvent(new Event('input'));"
    )
    settle(driver)
    assert text(driver, "kept") == "61 of 65"
    value = qs.solve(ANIMALS.x, ANIMALS.y, drop=4).value
    assert float(text(driver, "value")) == pytest.approx(value, rel=1e-5)


@needs_engine
def test_one_heading_says_how_few_rows_carry_it():
    page = to_html(gather(ANIMALS, drop=3, permutations=0), dataset_table("animals"))
    assert page.count("How few rows it depends on") == 1
    assert page.count("reverses the sign.") >= 1


@needs_engine
@pytest.mark.slow
def test_an_empty_page_offers_samples(driver, tmp_path):
    opened(driver, tmp_path, page_of([], "quadsweep"))
    samples = driver.find_elements(By.CSS_SELECTOR, "#samples button")
    assert [one.text for one in samples] == ["stars-cyg", "phone-calls", "animals", "anscombe-3"]
    samples[0].click()
    settle(driver)
    assert text(driver, "kept") == "43 of 47"
    full = page_of([dataset_table("stars-cyg")], "quadsweep")
    opened(driver, tmp_path, full)
    assert json.loads(driver.execute_script(
        'return document.getElementById("live-data").textContent'))["samples"] == []  # fmt: skip


@needs_engine
@pytest.mark.slow
@pytest.mark.parametrize("phone", [False, True])
def test_keys_are_explained_only_where_there_is_a_keyboard(driver, tmp_path, phone):
    as_phone(driver, phone)
    opened(driver, tmp_path, page_of([dataset_table("stars-cyg")], "quadsweep"))
    keys = driver.find_element(By.CSS_SELECTOR, "#how .keys")
    assert keys.is_displayed() != phone
    as_phone(driver, False)
