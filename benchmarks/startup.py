"""How long until an answer: importing the package, and one command on a file of 50 rows.

    python benchmarks/startup.py [--quick]

Each line is a process of its own from start to end, the best of several taken in turn, beside a
bare interpreter and NumPy alone: time on the clock, and of the processor (on a busy machine the
clock shows the others). Byte code is kept, whatever the environment says: an installed package has
it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def seconds(command: list[str]) -> tuple[float, float]:
    """Of the clock, and of the processor."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start, before = time.perf_counter(), os.times()
    subprocess.run(
        command, check=True, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    clock, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system
    return clock, used - before.children_user - before.children_system


def commands(table: Path) -> dict[str, list[str]]:
    python = sys.executable
    return {
        "python -c pass": [python, "-c", "pass"],
        "import numpy": [python, "-c", "import numpy"],
        "import quadsweep": [python, "-c", "import quadsweep"],
        "quadsweep solve, 50 rows": [
            python, "-m", "quadsweep", "solve", str(table), "--drop", "5",
        ],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="once each")
    rounds = 1 if parser.parse_args().quick else 15
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "fifty.csv"
        points = np.random.default_rng(0).normal(size=(50, 2))
        np.savetxt(table, points, delimiter=",", header="a,b", comments="")
        tried = commands(table)
        best = dict.fromkeys(tried, (float("inf"), float("inf")))
        for _ in range(rounds):
            for name, command in tried.items():
                clock, processor = seconds(command)
                best[name] = min(best[name][0], clock), min(best[name][1], processor)
    for name, (clock, processor) in best.items():
        print(f"{name:<26}{clock:8.3f} s{processor:8.3f} s of the processor")


if __name__ == "__main__":
    main()
