"""The page that solves, in a real browser: Python's answers, the reader's hands, no network."""

import numpy as np
import pytest
from live_engine import needs_engine
from live_page import (
    HOSTILE,
    PATIENCE,
    agrees,
    as_text,
    asked,
    opened,
    settle,
    text,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import quadsweep as qs
from quadsweep.cli import main
from quadsweep.exploring import Explorer, dataset_table, page_of
from quadsweep.inputs.frames import Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.report import gather, to_html
from quadsweep.report.live import Table

pytestmark = [needs_engine, pytest.mark.slow]

PLANAR = [name for name in qs.datasets.names() if qs.datasets.load(name).x.ndim == 1]


@pytest.fixture
def phones(driver, tmp_path):
    opened(driver, tmp_path, page_of([dataset_table("phone-calls")], "phone-calls"))
    settle(driver)
    return driver


def test_built_in_data_sets_have_pythons_answers(driver, tmp_path):
    names = PLANAR
    page = opened(driver, tmp_path, page_of([dataset_table(n) for n in names], "playground"))
    settle(page)
    for i, name in enumerate(names):
        data = qs.datasets.load(name)
        page.execute_script(
            "const s = document.getElementById('builtin'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'));",
            str(i),
        )
        told = asked(page, objective=data.objective, drop=len(data.x) - data.k)
        assert told["n"] == len(data.x)
        agrees(told, data.x, data.y, name)
    assert page.get_log("browser") == []


def test_random_data_have_pythons_answers(driver, tmp_path):
    seed = 1717
    rng = np.random.default_rng(seed)
    page = opened(driver, tmp_path, page_of([], "empty"))
    for i in range(200):
        n = int(rng.integers(6, 50))
        x, y = rng.normal(size=(2, n))
        if i % 2:  # ties and duplicates
            x, y = np.round(2 * x), np.round(x + 2 * y)
        if np.all(x == x[0]) or np.all(y == y[0]):
            continue
        objective = list(OBJECTIVES)[i % len(OBJECTIVES)]
        drop = int(rng.integers(0, n // 2))
        told = asked(page, as_text(x, y), drop, objective)
        assert (told["n"], told["k"], told["objective"]) == (n, n - drop, objective)
        agrees(told, x, y, f"seed {seed}, data set {i}")


def rows_on_screen(page):
    return page.execute_async_script(
        "const done = arguments[0], make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };"
        "document.getElementById('save-csv').click(); URL.createObjectURL = make;"
    )


def point_on_screen(page, x, y):
    """Where a point of the data is, from the middle of the picture, in pixels."""
    data = qs.datasets.load("phone-calls")

    def along(values, v, low, high):
        span = np.ptp(values)
        start, end = values.min() - 0.06 * span, values.max() + 0.06 * span
        return low + (v - start) / (end - start) * (high - low)

    shape = page.find_element(By.ID, "scatter").rect
    factor = shape["width"] / 800
    return (
        round((along(data.x, x, 74, 785) - 400) * factor),
        round((along(data.y, y, 444, 12) - 250) * factor),
    )


def test_a_dragged_point_is_solved_again_and_undone(phones):
    before = asked(phones)
    data = qs.datasets.load("phone-calls")
    picture = phones.find_element(By.ID, "scatter")
    at = point_on_screen(phones, data.x[5], data.y[5])
    drag = ActionChains(phones).move_to_element_with_offset(picture, *at).click_and_hold()
    drag.move_by_offset(0, -60).move_by_offset(5, -60).release().perform()
    settle(phones)
    after = asked(phones)
    assert after["edited"]
    rows = np.genfromtxt(rows_on_screen(phones).splitlines()[1:], delimiter=",")
    moved = np.flatnonzero((rows[:, 1] != data.x) | (rows[:, 2] != data.y))
    assert moved.tolist() == [5]
    agrees(after, rows[:, 1], rows[:, 2], "dragged")
    assert after["value"] != before["value"]
    assert "rows.csv" in text(phones, "command")
    phones.find_element(By.ID, "undo").click()
    assert asked(phones)["value"] == before["value"]


def test_a_point_is_taken_away_by_a_click_and_by_the_keyboard(phones):
    data = qs.datasets.load("phone-calls")
    picture = phones.find_element(By.ID, "scatter")
    at = point_on_screen(phones, data.x[5], data.y[5])
    ActionChains(phones).move_to_element_with_offset(picture, *at).click().perform()
    assert asked(phones)["n"] == 23
    assert "taken away" in text(phones, "told")
    picture.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.DELETE)
    assert asked(phones)["n"] == 22
    picture.send_keys(Keys.CONTROL, "z")
    assert asked(phones)["n"] == 23
    phones.find_element(By.ID, "restore").click()
    assert asked(phones)["n"] == 24


def test_a_point_is_added_and_moved_by_the_keyboard(phones):
    data = qs.datasets.load("phone-calls")
    picture = phones.find_element(By.ID, "scatter")
    picture.send_keys(Keys.ARROW_RIGHT, Keys.INSERT)
    picture.send_keys(Keys.SHIFT, Keys.ARROW_UP, Keys.ARROW_UP)
    assert asked(phones)["n"] == 25
    rows = np.genfromtxt(rows_on_screen(phones).splitlines()[1:], delimiter=",")
    first = np.argmin(data.x)
    assert rows[:24, 1:3].tolist() == np.column_stack([data.x, data.y]).tolist()
    assert rows[24, 1] == data.x[first]
    assert rows[24, 2] > data.y[first]


def test_a_finger_drags_a_point_up_and_scrolls_beside_it(phones):
    data = qs.datasets.load("phone-calls")
    shape = phones.find_element(By.ID, "scatter").rect

    def swiped(at):
        x = shape["x"] + shape["width"] / 2 + at[0]
        y = shape["y"] + shape["height"] / 2 + at[1]
        steps = [("touchStart", 0), *(("touchMove", -12 * i) for i in range(1, 8)), ("touchEnd", 0)]
        for kind, up in steps:
            points = [] if kind == "touchEnd" else [{"x": x, "y": y + up}]
            phones.execute_cdp_cmd(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}
            )
        return asked(phones)

    phones.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        assert swiped(point_on_screen(phones, data.x[5], data.y[5]))["edited"]
        rows = np.genfromtxt(rows_on_screen(phones).splitlines()[1:], delimiter=",")
        phones.find_element(By.ID, "undo").click()
        assert not swiped((-200, -150))["edited"]  # no point is near
    finally:
        phones.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert np.flatnonzero(rows[:, 2] != data.y).tolist() == [5]
    whole = 1.12 * np.ptp(data.y) * 84 / (432 * shape["width"] / 800)  # all the way, not cut short
    assert rows[5, 2] - data.y[5] == pytest.approx(whole, rel=0.1)


def test_what_was_brushed_is_forgotten_with_its_points(phones):
    picture = phones.find_element(By.ID, "scatter")
    phones.find_element(By.CSS_SELECTOR, "input[value=brush]").click()
    drag = ActionChains(phones).move_to_element_with_offset(picture, -300, -190).click_and_hold()
    drag.move_by_offset(300, 200).move_by_offset(300, 190).release().perform()
    assert phones.find_element(By.ID, "brushed").is_displayed()
    asked(phones, "a,b\n1,1\n2,2\n3,9\n5,5\n")
    assert not phones.find_element(By.ID, "brushed").is_displayed()


def test_few_shuffles_give_no_verdict(phones):
    phones.execute_script("document.getElementById('shuffles').value = 9")
    phones.find_element(By.ID, "run-path").click()
    WebDriverWait(phones, PATIENCE).until(lambda p: "too few" in text(p, "path-told"))
    assert text(phones, "path-told").startswith("9 shufflings are too few to say")


def test_points_are_added_and_brushed_away(phones):
    picture = phones.find_element(By.ID, "scatter")
    phones.find_element(By.CSS_SELECTOR, "input[value=add]").click()
    ActionChains(phones).move_to_element_with_offset(picture, 0, 0).click().perform()
    assert asked(phones)["n"] == 25
    phones.find_element(By.CSS_SELECTOR, "input[value=brush]").click()
    drag = ActionChains(phones).move_to_element_with_offset(picture, -20, -20).click_and_hold()
    drag.move_by_offset(20, 20).move_by_offset(20, 20).release().perform()
    brushed = int(text(phones, "brushed-count").split()[0])
    assert brushed >= 1
    phones.find_element(By.ID, "brush-away").click()
    assert asked(phones)["n"] == 25 - brushed


def test_the_audit_and_the_path_are_those_of_python(phones):
    data = qs.datasets.load("phone-calls")
    phones.find_element(By.ID, "run-audit").click()
    WebDriverWait(phones, PATIENCE).until(
        lambda p: p.find_element(By.ID, "run-audit").is_enabled() and text(p, "audit-told")
    )
    mine = qs.audit(data.x, data.y)
    assert text(phones, "audit-told").startswith(mine.message)
    phones.execute_script("document.getElementById('shuffles').value = 19")
    phones.find_element(By.ID, "run-path").click()
    WebDriverWait(phones, PATIENCE).until(
        lambda p: "19 shufflings, corrected" in text(p, "path-told")
    )
    assert phones.find_element(By.CSS_SELECTOR, "#path .band").get_attribute("d").endswith("Z")


def test_a_running_path_can_be_stopped(phones):
    phones.execute_script("document.getElementById('shuffles').value = 9999")
    phones.find_element(By.ID, "run-path").click()
    stop = phones.find_element(By.ID, "stop-path")
    WebDriverWait(phones, PATIENCE).until(lambda p: stop.is_displayed())
    stop.click()
    assert phones.find_element(By.ID, "run-path").is_enabled()
    assert not stop.is_displayed()


def test_columns_are_chosen_swapped_and_put_on_a_log_scale(driver, tmp_path):
    table = Table("t", ["a", "b", "c"], [[1, 10, 100, 1000, 7], [1, 2, 3, 4, -9], [5, 1, 4, 2, 3]])
    page = opened(driver, tmp_path, page_of([table], "t"))
    settle(page)
    assert asked(page)["names"] == ["a", "b"]
    page.find_element(By.ID, "swap").click()
    assert asked(page)["names"] == ["b", "a"]
    page.find_element(By.ID, "y-log").click()
    told = asked(page, drop=1)
    assert told["names"] == ["b", "log10(a)"]
    assert told["outliers"] == [4]
    assert told["value"] == pytest.approx(1, abs=1e-9)
    page.find_element(By.ID, "x-log").click()
    assert asked(page)["n"] == 4
    assert "1 row is left out" in text(page, "left-out")


def test_hostile_names_and_values_are_text(driver, tmp_path):
    page = opened(driver, tmp_path, page_of([], "empty"))
    rows = "".join(f'"{HOSTILE}{i}",{i + i % 3},{i * i % 7}\n' for i in range(9))
    told = asked(page, f'name,"{HOSTILE}","{HOSTILE}y"\n{rows}', 2, "r2")
    assert told["names"] == [HOSTILE, HOSTILE + "y"]
    labels = [li.text for li in page.find_elements(By.CSS_SELECTOR, "#rows li")]
    assert labels == [f"{HOSTILE}{i}" for i in told["outliers"]]
    assert page.execute_script("return window.broken") is None
    assert page.find_elements(By.TAG_NAME, "img") == []
    page.execute_script(
        "document.getElementById('pasted').value = arguments[0];", f"{HOSTILE}\n1\n"
    )
    page.find_element(By.ID, "read-pasted").click()
    assert text(page, "wrong").startswith("two numeric columns are needed")
    assert page.get_log("browser") == []


def test_hostile_tables_inside_the_file_are_text(driver, tmp_path):
    table = Table(HOSTILE, [HOSTILE, "b"], [[1, 2, 3, 5], [1, 3, 2, 5]])
    page = opened(driver, tmp_path, page_of([table], HOSTILE))
    settle(page)
    assert page.find_element(By.TAG_NAME, "h1").text == HOSTILE
    assert page.execute_script("return window.broken") is None


def test_ten_thousand_points_leave_the_page_free_while_the_worker_runs(driver, tmp_path):
    x, y = np.random.default_rng(4).normal(size=(2, 10_000))
    table = Table("many", ["x", "y"], [x.tolist(), (y + x).tolist()])
    page = opened(driver, tmp_path, page_of([table], "many"))
    settle(page)
    slider = page.find_element(By.ID, "slider")
    for _ in range(5):
        slider.send_keys(Keys.ARROW_RIGHT)
    assert text(page, "count") == "5 of 10,000 dropped"
    told = asked(page)
    assert told["k"] == 9995
    agrees(told, x, y + x, "10,000 points")


def test_a_report_is_live_and_says_first_that_noise_is_noise(driver, tmp_path):
    x, y = np.random.default_rng(3).uniform(size=(2, 40))
    table = Table("noise", ["x", "y"], [x.tolist(), y.tolist()])
    report = gather(Columns(x, y))
    page = opened(driver, tmp_path, to_html(report, table))
    settle(page)
    assert page.find_element(By.CLASS_NAME, "lead").text.startswith("The path does not rise above")
    assert text(page, "count") == "0 of 40 dropped"
    assert page.find_element(By.CSS_SELECTOR, "#path .band").get_attribute("d").endswith("Z")
    agrees(asked(page, drop=4), x, y, "report")
    headline = page.find_element(By.CLASS_NAME, "lead").text
    assert headline.startswith("With 4 of 40 points dropped, R² is 0.")
    asked(page, drop=0)
    assert page.find_element(By.CLASS_NAME, "lead").text.startswith("The path does not rise above")


def test_the_commands_write_pages_that_solve(driver, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("who,a,b\nu,1,1\nv,2,2\nw,3,9\nz,5,5\nq,6,6\n", encoding="utf-8")
    for command in ("report", "explore"):
        out = tmp_path / f"{command}.html"
        assert main([command, str(file), "-o", str(out)]) == 0
        driver.get(out.as_uri())
        settle(driver)
        assert asked(driver, drop=1)["outliers"] == [2]
        assert [li.text for li in driver.find_elements(By.CSS_SELECTOR, "#rows li")] == ["w"]
        assert "--x a --y b --drop 1 --objective r2" in text(driver, "command")


def test_a_notebook_shows_the_page_in_place(driver, tmp_path):
    table = Table("frame", ["a", "b"], [[1, 2, 3, 4, 5], [1, 2, 9, 4, 5]])
    cell = f"<!doctype html><body>{Explorer(table)._repr_html_()}</body>"
    page = opened(driver, tmp_path, cell)
    page.switch_to.frame(page.find_element(By.TAG_NAME, "iframe"))
    settle(page)
    assert asked(page, drop=1)["outliers"] == [2]
    page.switch_to.default_content()


def test_a_long_proof_shows_the_best_so_far_and_ends_with_the_next_move(driver, tmp_path):
    x, y = np.random.default_rng(12).normal(size=(2, 20_000))
    table = Table("noise", ["x", "y"], [x.tolist(), y.tolist()])
    made = page_of([table], "noise")
    assert made.count("budgets = [0.4, ") == 2  # in the page and in its worker
    page = opened(driver, tmp_path, made.replace("budgets = [0.4, ", "budgets = [0.01, "))
    settle(page)
    page.execute_script(
        "const s = document.getElementById('slider'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input'));",
        9000,
    )
    WebDriverWait(page, PATIENCE, 0.02).until(
        lambda p: text(p, "proof") == "best so far; the proof goes on"
    )
    value, bound, gap = page.execute_script(  # at one moment
        "return ['value', 'bound', 'gap'].map((i) => Number(document.getElementById(i).innerText))"
    )
    assert value < bound
    assert gap == pytest.approx(bound - value, rel=0.05)
    told = asked(page, drop=2)  # the worker is free for it at once
    assert (told["k"], told["status"]) == (19_998, "optimal")
    agrees(told, x, y, "20,000 points")
