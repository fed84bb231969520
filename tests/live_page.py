"""A page that solves, in a browser: opened, asked, and compared with Python."""

import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import quadsweep as qs
from quadsweep.objectives import OBJECTIVES

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
PATIENCE = 60


@contextmanager
def browser():
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1000,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(service=service, options=options)
    driver.set_script_timeout(PATIENCE)
    yield driver
    driver.quit()


def opened(driver, folder, page):
    driver.get_log("browser")
    driver.get_log("performance")
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    driver.get(file.as_uri())
    return driver


def text(page, name):
    return page.find_element(By.ID, name).text


def settle(page):
    """Waits for the end of the proof."""
    WebDriverWait(page, PATIENCE, 0.05).until(
        lambda p: p.execute_script("return document.body.dataset.settled")
    )


_ASK = """
const [table, drop, objective, done] = arguments;
const byId = (id) => document.getElementById(id);
const act = (id, value, kind) => {
  byId(id).value = value;
  byId(id).dispatchEvent(new Event(kind));
};
if (table !== null) { byId("pasted").value = table; byId("read-pasted").click(); }
if (objective !== null) act("objective", objective, "change");
if (drop !== null) act("slider", drop, "input");
const wait = () => {
  if (!document.body.dataset.settled) return setTimeout(wait, 5);
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };
  byId("save-json").click();
  URL.createObjectURL = make;
};
wait();
"""


def asked(page, table=None, drop=None, objective=None):
    """What the page says when the proof is complete: the JSON it lets the reader save."""
    answer = page.execute_async_script(_ASK, table, drop, objective)
    return json.loads(answer)


def as_text(x, y):
    return "x,y\n" + "".join(f"{u!r},{v!r}\n" for u, v in zip(x.tolist(), y.tolist(), strict=True))


def agrees(told, x, y, about):
    k, objective = told["k"], told["objective"]
    mine = qs.solve(x, y, k, objective=objective, n_jobs=1)
    near = {"rel": 2e-9, "abs": 2e-9 if objective in ("r", "r2") else 1e-300}
    assert told["status"] == mine.status, about
    assert told["value"] == pytest.approx(mine.value, **near), about
    assert told["bound"] == pytest.approx(mine.bound, **near), about
    inliers = np.array(told["inliers"])
    assert len(inliers) == k, about
    if not np.array_equal(inliers, mine.inliers):  # a tie within tol
        own = OBJECTIVES[objective].value(x[inliers], y[inliers])
        assert own == pytest.approx(mine.value, **near), about


def width_on_a_phone(page):
    """How wide the page is, in pixels, on a screen of 360."""
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.refresh()
    wide = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return wide
