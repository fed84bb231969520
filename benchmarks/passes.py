"""Larger than memory: a line with 20% outliers under a limit of 2 GB, beside one pass of polars.

    python benchmarks/passes.py [--rows 2e8] [--memory 2] [--folder DIR] [--quick]

Writes Parquet in pieces (16 bytes a row) to a temporary folder, computes the correlation in one
streaming pass of polars (best of three), solves in a process of its own, and prints time, passes,
bytes read, peak memory, and the ratio of the two times, by the clock and by the processor (which
other work on the machine disturbs less). The goal is at most 10. Then, on paper, 10^10 rows on 20
such machines.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PIECE = 1_000_000  # rows of a row group
FILE_PIECES = 20
GOAL = 10
MANY, WORKERS = 1e10, 20

SOLVE = """
import json, resource, sys, time
import pyarrow.dataset, numpy
import quadsweep as qs
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, busy = time.perf_counter(), time.process_time()
result = qs.solve(sys.argv[1], x="a", y="b", drop=0.2, memory_limit=float(sys.argv[2]))
seconds, busy = time.perf_counter() - start, time.process_time() - busy
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({**result.to_dict(), "outliers": None, "seconds": seconds, "busy": busy,
                  "before": before * 1024, "peak": peak * 1024}))
"""


def write(folder: Path, rows: int) -> int:
    """A line with 20% outliers; the bytes written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for number, first in enumerate(range(0, rows, PIECE)):
        rng = np.random.default_rng([7, number])
        size = min(PIECE, rows - first)
        x = rng.normal(size=size)
        y = x + 0.3 * rng.normal(size=size)
        wrong = rng.random(size) < 0.2
        y[wrong] = 3 * rng.normal(size=int(wrong.sum()))
        table = pa.table({"a": x, "b": y})
        if number % FILE_PIECES == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(folder / f"{number:05d}.parquet", table.schema)
        assert writer is not None
        writer.write_table(table, row_group_size=PIECE)
    assert writer is not None
    writer.close()
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))


def one_pass(folder: Path) -> tuple[float, float, float]:
    """Seconds of a streaming pass, those of the processor, and the correlation it is for."""
    import polars as pl

    start, busy = time.perf_counter(), time.process_time()
    frame = pl.scan_parquet(folder / "*.parquet").select(pl.corr("a", "b"))
    value = float(frame.collect(engine="streaming").item())
    return time.perf_counter() - start, time.process_time() - busy, value


def solved(folder: Path, memory: float) -> dict[str, float]:
    """The answer, from a process whose peak memory is its own."""
    command = [sys.executable, "-c", SOLVE, str(folder), str(memory)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(told)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=2e8)
    parser.add_argument("--memory", type=float, default=2.0, help="GB")
    parser.add_argument("--folder", default=None, help="where to put the temporary folder")
    parser.add_argument("--quick", action="store_true", help="4 million rows under 0.1 GB")
    options = parser.parse_args()
    rows, memory = (4_000_000, 0.1) if options.quick else (int(options.rows), options.memory)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        size = write(folder, rows)
        print(f"{rows:,} rows, {size / 1e9:.2f} GB of Parquet, limit {memory} GB")
        passes = [one_pass(folder) for _ in range(3)]
        single, busy = min(p[0] for p in passes), min(p[1] for p in passes)
        r = passes[0][2]
        print(f"one pass of polars:  {single:.2f} s, {busy:.2f} s of processors (r = {r:.6f})")
        found = solved(folder, memory)
    ratio = found["seconds"] / single
    read = found["rows_read"] / rows * size
    print(
        f"solve:               {found['seconds']:.2f} s ({found['reading']:.2f} s in passes), "
        f"{found['busy']:.2f} s of processors, {found['passes']} passes, "
        f"{read / 1e9:.2f} GB read, {found['status']}, R2 {found['value']:.9f}, "
        f"{found['loaded']:,} rows one by one, {found['nodes']:,} nodes"
    )
    print(f"peak memory:         {found['peak'] / 1e9:.2f} GB ({found['before'] / 1e9:.2f} before)")
    print(
        f"ratio:               {ratio:.1f} passes of polars by the clock, "
        f"{found['busy'] / busy:.1f} by the processor (goal: at most {GOAL})"
    )
    print(on_paper(found, rows))


def on_paper(found: dict[str, float], rows: int) -> str:
    """Many more rows on many machines like this one, each with its share of the source.

    Passes share the rows; searches run on one machine. The rows along the boundary grow with all
    rows, and each pass that cuts their leaves into 8 leaves about 8^(1/2) times fewer of them to be
    loaded, by one more search.
    """
    share = MANY / WORKERS / rows  # of this run's reading, for a machine
    cuts = max(math.ceil(math.log(MANY / rows) / math.log(8**0.5)), 0)
    single = found["reading"] / (found["rows_read"] / rows) * share  # of a whole pass
    searches = (found["seconds"] - found["reading"]) * (1 + cuts)
    reading = single * (found["rows_read"] / rows + cuts)
    return (
        f"on paper:            {MANY:.0e} rows on {WORKERS} such machines: {single:.0f} s a pass, "
        f"{found['passes'] + cuts} passes, {searches:.0f} s of searches, "
        f"{reading + searches:.0f} s in all"
    )


if __name__ == "__main__":
    main()
