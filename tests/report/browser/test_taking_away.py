"""What a reader takes away from the page, in a real browser: files, the clipboard, paper."""

import base64
import json
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from live_engine import needs_engine
from live_page import HOSTILE, PATIENCE, as_text, asked, opened, settle, text
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import quadsweep as qs
from quadsweep.cli import main
from quadsweep.exploring import dataset_table, page_of
from quadsweep.report import gather, to_html
from quadsweep.report.live import Table, page

pytestmark = [needs_engine, pytest.mark.slow]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def animals(driver, tmp_path):
    opened(driver, tmp_path, page_of([dataset_table("animals")], "animals"))
    settle(driver)
    return driver


def saved(driver, folder, button, name):
    """The file that a button makes the browser download."""
    there = folder / "downloads"
    there.mkdir(exist_ok=True)
    behaviour = {"behavior": "allow", "downloadPath": str(there)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    file = there / name
    file.unlink(missing_ok=True)
    driver.find_element(By.ID, button).click()
    WebDriverWait(driver, PATIENCE, 0.05).until(lambda _: file.exists() and file.stat().st_size)
    return file


def python_answer(name="animals"):
    data = qs.datasets.load(name)
    return data, qs.solve(data.x, data.y, data.k, objective=data.objective)


def test_the_picture_as_svg_parses_and_stands_alone(animals, tmp_path):
    file = saved(animals, tmp_path, "save-svg", "points.svg")
    tree = ET.parse(file).getroot()
    assert tree.tag == f"{SVG}svg"
    assert (tree.get("width"), tree.get("height")) == ("800", "500")
    _, mine = python_answer()
    dots, crosses = (tree.find(f".//{SVG}path[@class='{name}']") for name in ("dots", "cross"))
    assert dots.get("d").count("M") == mine.k
    assert crosses.get("d").count("M") == 2 * (mine.n - mine.k)
    named = {node.text for node in tree.iterfind(f".//{SVG}text[@class='mark']")}
    data, _ = python_answer()
    assert named == {data.labels[i] for i in mine.outliers}
    assert all("var(" not in (node.get("style") or "") for node in tree.iter())


def test_the_picture_as_png_has_its_size_and_ink(animals, tmp_path):
    image = pytest.importorskip("PIL.Image")
    with image.open(saved(animals, tmp_path, "save-png", "points.png")) as picture:
        assert picture.size == (1600, 1000)
        colours = picture.convert("RGB").getcolors(1 << 24)
    seen = {colour for count, colour in colours if count > 200}
    assert (0, 114, 178) in seen  # kept
    assert any(r > 180 and g < 110 and b < 30 for r, g, b in seen)  # dropped


def test_the_rows_as_csv_carry_pythons_flags(animals, tmp_path):
    import pandas as pd

    frame = pd.read_csv(saved(animals, tmp_path, "save-csv", "rows.csv"))
    data, mine = python_answer()
    assert frame["inlier"].tolist() == mine.mask.tolist()
    assert frame["row"].tolist() == list(data.labels)
    assert frame[data.names[0]].tolist() == data.x.tolist()
    assert frame[data.names[1]].tolist() == data.y.tolist()


def test_the_result_as_json_is_pythons(animals, tmp_path):
    told = json.loads(saved(animals, tmp_path, "save-json", "result.json").read_text("utf-8"))
    _, answer = python_answer()
    mine = answer.to_dict()
    same = ("objective", "method", "n", "k", "status", "success", "rows", "inliers", "outliers",
            "omitted")  # fmt: skip
    assert {name: told[name] for name in same} == {name: mine[name] for name in same}
    for name in ("value", "bound", "slope", "intercept"):
        assert told[name] == pytest.approx(mine[name], rel=2e-9), name


def test_row_and_inlier_may_be_names_of_columns(driver, tmp_path):
    table = Table("t", ["row", "inlier"], [[1, 2, 3, 5, 6], [1, 2, 9, 5, 6]])
    opened(driver, tmp_path, page_of([table], "t"))
    settle(driver)
    file = saved(driver, tmp_path, "save-csv", "rows.csv")
    assert file.read_text("utf-8").splitlines()[0] == "row_,row,inlier,inlier_"


def copied(driver, button):
    """What the clipboard holds after a click, read as a page may that the user allows to."""
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    driver.find_element(By.ID, button).click()
    WebDriverWait(driver, PATIENCE, 0.05).until(lambda d: text(d, button) == "copied")
    return driver.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(null));"
    )


def run_copied(command, folder):
    """The command run as a reader would, with the answer as JSON."""
    words = shlex.split(command, comments=True)
    assert words[0] == "quadsweep"
    done = subprocess.run(
        [sys.executable, "-m", "quadsweep", *words[1:], "--json"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_the_command_and_the_line_copied_reproduce_the_numbers(driver, tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    x = rng.normal(size=30)
    y = 2 * x + rng.normal(size=30)
    file = tmp_path / 'it\'s a "table".csv'
    rows = "".join(
        f"n{i};{a!r};{b!r}\n" for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True))
    )
    file.write_text("who;first $x;y & z\n" + rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["explore", file.name, "-o", "page.html"]) == 0
    driver.get((tmp_path / "page.html").as_uri())
    settle(driver)
    told = asked(driver, drop=3, objective="lts")
    command = copied(driver, "copy-command")
    assert command == text(driver, "command")
    answer = run_copied(command, tmp_path)
    assert answer["value"] == pytest.approx(told["value"], rel=2e-9)
    assert answer["dropped"] == [
        li.text for li in driver.find_elements(By.CSS_SELECTOR, "#rows li")
    ]
    line = copied(driver, "copy-python").replace("; qs.solve", "; answer = qs.solve")
    saved(driver, tmp_path, "save-csv", "rows.csv")
    monkeypatch.chdir(tmp_path / "downloads")
    scope = {}
    exec(f"import pandas as pd, quadsweep as qs\n{line}", scope)
    assert scope["answer"].value == pytest.approx(told["value"], rel=2e-9)
    assert scope["answer"].outliers.tolist() == told["outliers"]


def test_after_a_change_the_command_reads_the_rows_saved(animals, tmp_path, monkeypatch):
    animals.find_element(By.ID, "scatter").send_keys(Keys.ARROW_RIGHT, Keys.DELETE)
    told = asked(animals, drop=2)
    saved(animals, tmp_path, "save-csv", "rows.csv")
    answer = run_copied(copied(animals, "copy-command"), tmp_path / "downloads")
    assert answer["n"] == told["n"] == 64
    assert answer["value"] == pytest.approx(told["value"], rel=2e-9)
    monkeypatch.chdir(tmp_path / "downloads")
    scope = {}
    line = copied(animals, "copy-python").replace("; qs.solve", "; answer = qs.solve")
    exec(f"import pandas as pd, quadsweep as qs\n{line}", scope)
    assert scope["answer"].value == pytest.approx(told["value"], rel=2e-9)


@pytest.mark.parametrize("selection_works", [True, False])
def test_without_a_clipboard_the_text_is_selected_and_the_button_says_so(animals, selection_works):
    animals.execute_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});"
        "const works = arguments[0];"
        "if (!works) document.execCommand = () => false;", selection_works,
    )  # fmt: skip
    animals.find_element(By.ID, "copy-command").click()
    says = "copied" if selection_works else "press Ctrl+C"
    WebDriverWait(animals, PATIENCE, 0.05).until(lambda d: text(d, "copy-command") == says)
    assert animals.execute_script("return String(getSelection())") == text(animals, "command")


_DROP = """
const [name, bytes, done] = arguments;
const data = new DataTransfer();
data.items.add(new File([Uint8Array.from(bytes)], name));
const held = new DragEvent("dragover", {dataTransfer: data, bubbles: true, cancelable: true});
document.body.dispatchEvent(held);
const event = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
document.body.dispatchEvent(event);
setTimeout(() => done(held.defaultPrevented && event.defaultPrevented), 300);
"""


def dropped(driver, name, content):
    return driver.execute_async_script(_DROP, name, list(content))


def test_a_csv_file_dropped_onto_the_page_is_read_whatever_it_says(driver, tmp_path):
    opened(driver, tmp_path, page_of([], "empty"))
    rows = "".join(f'"{HOSTILE}{i}",{i + i % 3},{i * i % 7}\n' for i in range(9))
    content = f'name,"{HOSTILE}","=1+1"\n{rows}'.encode()
    assert dropped(driver, f"{HOSTILE}.csv", content)
    settle(driver)
    told = asked(driver, drop=2)
    assert told["names"] == [HOSTILE, "=1+1"]
    labels = [li.text for li in driver.find_elements(By.CSS_SELECTOR, "#rows li")]
    assert labels == [f"{HOSTILE}{i}" for i in told["outliers"]]
    assert driver.execute_script("return window.broken") is None
    assert driver.find_elements(By.TAG_NAME, "img") == []
    assert driver.get_log("browser") == []


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("latin.csv", "größe;höhe\n1,5;1\n2,5;2\n3,5;9\n5,5;5\n".encode("cp1252"), ""),
        ("wide.csv", "a,b\n1,1\n2,2\n3,9\n5,5\n".encode("utf-16"), ""),
        ("book.xlsx", b"PK\x03\x04rest", "book.xlsx is a workbook or an archive"),
        ("nothing.csv", b"", "nothing.csv is empty"),
        ("one.csv", b"a\n1\n2\n", "two numeric columns are needed; one.csv has only a"),
        ("ragged.csv", b"a,b\n1,2\n3,4,5\n", "ragged.csv: row 2 has 3 fields where there are 2"),
    ],
)  # fmt: skip
def test_dropped_files_follow_the_rules_of_the_command_line(driver, tmp_path, name, content, says):
    opened(driver, tmp_path, page_of([], "empty"))
    dropped(driver, name, content)
    if says:
        assert text(driver, "wrong").startswith(says)
        return
    settle(driver)
    assert asked(driver, drop=1)["outliers"] == [2]


def test_rows_are_named_as_the_command_line_names_them(driver, tmp_path):
    opened(driver, tmp_path, page_of([dataset_table("phone-calls")], "phone-calls"))
    settle(driver)
    asked(driver, drop=6)
    listed = [li.text for li in driver.find_elements(By.CSS_SELECTOR, "#rows li")]
    assert listed == ["1964", "1965", "1966", "1967", "1968", "1969"]
    options = driver.find_elements(By.CSS_SELECTOR, "#x-column option")
    assert [option.text for option in options] == list(qs.datasets.load("phone-calls").names)


def kind_of_boundary(answer):
    """How Python found the conic, if it did: by the gradient, by a program, or not at all."""
    if answer.conic is None:
        return "none"
    return "gradient" if answer.conic.local[3:5] == (0.0, 0.0) else "program"


def conic_instances(rng, wanted):
    """Random points until there are as many of every kind of boundary as wanted."""
    i = 0
    while any(wanted.values()):
        i += 1
        n = int(rng.integers(8, 16))
        x, y = rng.normal(size=(2, n)).round(1 if i % 3 else 0)
        objective = ("cov", "dv", "r2", "r", "lts", "tv")[i % 6]
        drop = int(rng.integers(1, n // 2))
        answer = qs.solve(x, y, drop=drop, objective=objective)
        if wanted[kind_of_boundary(answer)]:
            wanted[kind_of_boundary(answer)] -= 1
            yield x, y, drop, objective, answer


def test_a_conic_is_shown_where_python_shows_one(driver, tmp_path):
    seed = 1811
    opened(driver, tmp_path, page_of([], "empty"))
    wanted = {"gradient": 24, "program": 12, "none": 8}
    seen = dict.fromkeys(wanted, 0)
    for x, y, drop, objective, mine in conic_instances(np.random.default_rng(seed), wanted):
        told = asked(driver, as_text(x, y), drop, objective)
        if told["inliers"] != mine.inliers.tolist():
            continue  # a tie
        shown, how = text(driver, "boundary"), kind_of_boundary(mine)
        about = f"seed {seed}, {objective}, {how}: {shown}"
        assert shown.startswith(("none", "no conic")) == (how == "none"), about
        curve = driver.find_element(By.CSS_SELECTOR, "#scatter .region").get_attribute("d")
        assert bool(curve) == (how != "none"), about
        if how == "gradient":
            assert shown == mine.conic.kind, about
        seen[how] += 1
    assert min(seen.values()) >= 4, seen


def test_where_no_conic_separates_the_page_says_so(driver, tmp_path):
    opened(driver, tmp_path, page_of([dataset_table("nonseparable-r2")], "nonseparable"))
    settle(driver)
    assert text(driver, "boundary") == "no conic found that separates"


def test_sizes_that_were_not_proved_in_time_are_marked_as_such(driver, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PATH_SECONDS", 0.0)
    x, y = np.random.default_rng(4).normal(size=(2, 120))
    table = Table("noise", ["x", "y"], [x.tolist(), y.tolist()])
    opened(driver, tmp_path, page_of([table], "noise"))
    settle(driver)
    driver.execute_script("document.getElementById('shuffles').value = 19")
    driver.find_element(By.ID, "run-path").click()
    WebDriverWait(driver, PATIENCE).until(
        lambda d: (
            d.find_element(By.ID, "run-path").is_enabled() and "corrected" in text(d, "path-told")
        )
    )
    told = text(driver, "path-told")
    hollow = len(driver.find_elements(By.CSS_SELECTOR, "#path .unproved"))
    assert hollow > 0
    assert (
        f"{hollow} of 60 sizes are not proved within 0 s: hollow marks are the best found." in told
    )
    assert "optima of shuffled data are not proved either" in told


def test_a_report_marks_what_its_time_limit_left_unproved(driver, tmp_path):
    x, y = np.random.default_rng(1).normal(size=(2, 30))
    report = gather(x, y, permutations=0)
    stopped = [replace(report.steps[i], status="time_limit") for i in (2, 5)]
    steps = [*report.steps[:2], stopped[0], *report.steps[3:5], stopped[1], *report.steps[6:]]
    report, open_ = replace(report, steps=steps), 2
    table = Table("noise", ["x", "y"], [x.tolist(), y.tolist()])
    for given in (table, None):  # the page that solves, and the one that only shows
        opened(driver, tmp_path, to_html(report, given))
        WebDriverWait(driver, PATIENCE).until(
            lambda d: d.find_elements(By.CSS_SELECTOR, "#path .path")
        )
        marks = driver.find_elements(By.CSS_SELECTOR, "#path .unproved")
        assert len(marks) == open_
        assert (
            f"{open_} of {len(report.steps)} sizes are not proved"
            in driver.find_element(By.TAG_NAME, "main").text
        )


def printed(driver):
    found = driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    return base64.b64decode(found["data"])


def test_paper_has_the_picture_and_none_of_the_controls(animals):
    content = printed(animals)
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") <= 3
    animals.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for name in ("slider", "run-path", "save-svg", "other-data", "undo", "audit-title",
                     "path-title"):  # fmt: skip
            assert not animals.find_element(By.ID, name).is_displayed(), name
        for name in ("scatter", "value", "proof", "rows", "command"):
            assert animals.find_element(By.ID, name).is_displayed(), name
        colour = animals.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)"
    finally:
        animals.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_everything_can_be_reached_and_seen_by_keyboard(animals):
    animals.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
    wanted = set(
        animals.execute_script(
            "return [...document.querySelectorAll('button, select, input, textarea, #scatter')]"
            ".filter((e) => e.offsetParent !== null || e.id === 'scatter')"
            ".filter((e) => !e.disabled && !(e.type === 'radio' && !e.checked))"
            ".map((e) => e.id || e.value)"
        )
    )
    reached, unseen, nameless = set(), [], []
    for _ in range(len(wanted) + 4):
        ActionChains(animals).send_keys(Keys.TAB).perform()
        name, outline, said = animals.execute_script(
            "const e = document.activeElement, style = getComputedStyle(e);"
            "const label = e.getAttribute('aria-label') || (e.labels && e.labels.length && "
            "e.labels[0].textContent.trim()) || e.textContent.trim();"
            "return [e.id || e.value, style.outlineStyle + ' ' + style.outlineWidth, label];"
        )
        if name is None or name in reached:  # once around
            break
        reached.add(name)
        if outline.startswith("none") or outline.endswith(" 0px"):
            unseen.append(name)
        if not said:
            nameless.append(name)
    assert wanted <= reached, wanted - reached
    assert unseen == []
    assert nameless == []


def test_the_reader_of_a_screen_hears_what_happens(animals):
    live = {
        node.get_attribute("id") for node in animals.find_elements(By.CSS_SELECTOR, "[aria-live]")
    }
    assert {"told", "path-told", "audit-told", "copied"} <= live
    assert animals.find_element(By.ID, "wrong").get_attribute("role") == "alert"
    picture = animals.find_element(By.ID, "scatter")
    assert "points kept" in picture.get_attribute("aria-label")
    slider = animals.find_element(By.ID, "slider")
    slider.send_keys(Keys.ARROW_RIGHT)
    settle(animals)
    assert "points dropped" in slider.get_attribute("aria-valuetext")
