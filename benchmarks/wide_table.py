"""All pairs of a wide table, in files: on a local dask cluster, and with threads after a kill.

    python benchmarks/wide_table.py            1,000 columns by 200 rows, 499,500 pairs, twice
    python benchmarks/wide_table.py --quick    130 columns by 40 rows

The second run is ended by SIGKILL when a third of its files are there, and started again with
``resume=True``. Both must leave the same bytes. Printed: seconds, pairs a second, the memory of the
process that writes the files (workers have their own), bytes on disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import resource, sys, time
import numpy as np, quadsweep as qs
columns, rows, out, client = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] or None
if __name__ == "__main__":
    rng = np.random.default_rng(7)
    data = rng.normal(size=(rows, 5)) @ rng.normal(size=(5, columns)) / 2
    data += rng.normal(size=data.shape)
    start = time.perf_counter()
    found = qs.pairwise(data, drop=0.05, p_values=None, out=out, resume=True, client=client)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{found.status}, {found.pairs:,} pairs, {took:.0f} s, {peak} MB", flush=True)
"""


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.glob("*.parquet"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    columns, rows = (130, 40) if parser.parse_args().quick else (1000, 200)
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "program.py"
        program.write_text(PROGRAM, encoding="utf-8")

        def start(name: str, client: str = "") -> subprocess.Popen[bytes]:
            given = [str(columns), str(rows), str(Path(scratch) / name), client]
            return subprocess.Popen([sys.executable, str(program), *given])

        print("on a local cluster: ", end="", flush=True)
        start("cluster", "local").wait()
        whole = files(Path(scratch) / "cluster")
        size = sum(map(len, whole.values()))
        print(f"  {len(whole)} files, {size:,} bytes")
        process = start("killed")
        while len(list((Path(scratch) / "killed").glob("*.parquet"))) < len(whole) // 3:
            time.sleep(0.05)
        process.kill()
        process.wait()
        kept = files(Path(scratch) / "killed")
        print(f"with threads, killed after {len(kept)} files, resumed: ", end="", flush=True)
        start("killed").wait()
        same = files(Path(scratch) / "killed") == whole and kept.items() <= whole.items()
        print(f"  the same bytes: {same}")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
