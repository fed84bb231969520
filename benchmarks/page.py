"""The engine of pages against the compiled module, both on one thread.

Both solve the same points, best of several; Node runs the page's own script. The goal is at most 4
times the native time. Prints both times and their ratio; then, where there is a Chromium to
drive, how long a page with 10,000 points takes from a move of its slider to the frame after next
while its worker runs (the goal is 100 ms).

    python benchmarks/page.py [--quick]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep.exploring import page_of
from quadsweep.report.live import Table, available
from quadsweep.report.shell import text_of

GOAL = 4.0

_RUN = """
const fs = require("fs");
const [wasm, seconds] = process.argv.slice(2);
const engine = makeEngine(new WebAssembly.Module(fs.readFileSync(wasm)));
const { x, y, k } = JSON.parse(fs.readFileSync(0, "utf8"));
const spent = [], started = performance.now();
while (spent.length < 3 || performance.now() - started < 1000 * seconds) {
  spent.push(engine.solve(Float64Array.from(x), Float64Array.from(y), k, "r2").seconds);
}
console.log(Math.min(...spent));
"""


def in_a_page(x: np.ndarray, y: np.ndarray, k: int, seconds: float, folder: Path) -> float:
    script = folder / "run.js"
    script.write_text(text_of("live/engine.js") + _RUN, encoding="utf-8")
    import quadsweep.report.live as live

    wasm = Path(live.__file__).with_name("engine.wasm")
    points = json.dumps({"x": x.tolist(), "y": y.tolist(), "k": k})
    done = subprocess.run(
        ["node", str(script), str(wasm), str(seconds)],
        input=points, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def native(x: np.ndarray, y: np.ndarray, k: int, seconds: float) -> float:
    spent: list[float] = []
    started = time.perf_counter()
    while len(spent) < 3 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        qs.solve(x, y, k, n_jobs=1)
        spent.append(time.perf_counter() - before)
    return min(spent)


_MOVES = """
const [moves, done] = arguments, slider = document.getElementById("slider"), spent = [];
const frame = (act) => requestAnimationFrame(() => requestAnimationFrame(act));
const move = (i) => {
  if (i === moves) return done(spent);
  const started = performance.now();
  slider.value = 1000 + 37 * i;
  slider.dispatchEvent(new Event("input"));
  frame(() => {
    spent.push(performance.now() - started);
    setTimeout(() => move(i + 1), 40);
  });
};
move(0);
"""


def moves_of_a_slider(n: int, moves: int, folder: Path) -> list[float]:
    """Milliseconds from each move to the frame after next."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    x, y = np.random.default_rng(4).normal(size=(2, n))
    table = Table("many", ["x", "y"], [x.tolist(), (x + y).tolist()], drop=n // 10)
    page = folder / "page.html"
    page.write_text(page_of([table], "many"), encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(argument)
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    with webdriver.Chrome(service=service, options=options) as driver:
        driver.get(page.as_uri())
        settled = "return document.body.dataset.settled"
        WebDriverWait(driver, 60).until(lambda d: d.execute_script(settled))
        spent: list[float] = driver.execute_async_script(_MOVES, moves)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if not available() or shutil.which("node") is None:
        print("the engine of pages (make wasm) or node is missing; nothing was measured")
        return
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'n':>7} {'page':>10} {'native':>10} {'ratio':>6}   goal {GOAL:g}")
        for n in (30, 1000) if quick else (30, 1000, 10_000):
            x = rng.normal(size=n)
            y = 0.5 * x + rng.normal(size=n)
            seconds = 0.5 if quick else 8.0  # time enough for Node to compile the loops well
            page = in_a_page(x, y, n // 2, seconds, Path(folder))
            own = native(x, y, n // 2, seconds)
            print(f"{n:>7} {1e3 * page:>7.2f} ms {1e3 * own:>7.2f} ms {page / own:>6.2f}")
        if shutil.which("chromedriver") is None:
            return
        spent = moves_of_a_slider(10_000, 5 if quick else 25, Path(folder))
        print(
            f"input to paint with 10,000 points: median {np.median(spent):.0f} ms, most "
            f"{max(spent):.0f} ms of {len(spent)}   goal 100"
        )


if __name__ == "__main__":
    main()
