"""All pairs of a wide table, in files: on a local dask cluster, and after kills.

    python benchmarks/wide_table.py            1,000 columns by 200 rows, 499,500 pairs, three times
    python benchmarks/wide_table.py --quick    130 columns by 40 rows

The first run is on a cluster of two processes. In the second one of them is ended by SIGKILL when
a third of the pairs are done. The third, with threads, is itself ended so when a third of its files
are there, and started again with ``resume=True``. All must leave the same bytes. Printed: seconds,
the memory of the process that writes the files (workers have their own), bytes on disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import os, resource, signal, sys, time
import numpy as np, quadsweep as qs

columns, rows, out, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
lost = []

def lose_one(done, total, seconds):
    if how == "losing" and not lost and 3 * done > total:
        lost.append(min(client.run(os.getpid).values()))
        os.kill(lost[0], signal.SIGKILL)

if __name__ == "__main__":
    client = None
    if how:
        from distributed import Client, LocalCluster
        client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    rng = np.random.default_rng(7)
    data = rng.normal(size=(rows, 5)) @ rng.normal(size=(5, columns)) / 2
    data += rng.normal(size=data.shape)
    start = time.perf_counter()
    found = qs.pairwise(
        data, drop=0.05, p_values=None, out=out, resume=True, client=client, progress=lose_one
    )
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    note = f", {len(lost)} worker lost" if how == "losing" else ""
    print(f"{found.status}, {found.pairs:,} pairs, {took:.0f} s, {peak} MB{note}", flush=True)
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

        def start(name: str, how: str = "") -> subprocess.Popen[bytes]:
            given = [str(columns), str(rows), str(Path(scratch) / name), how]
            return subprocess.Popen([sys.executable, str(program), *given])

        print("on a local cluster: ", end="", flush=True)
        start("cluster", "cluster").wait()
        whole = files(Path(scratch) / "cluster")
        size = sum(map(len, whole.values()))
        print(f"  {len(whole)} files, {size:,} bytes")
        print("on a local cluster, one of two workers killed: ", end="", flush=True)
        start("losing", "losing").wait()
        process = start("killed")
        while len(list((Path(scratch) / "killed").glob("*.parquet"))) < len(whole) // 3:
            time.sleep(0.05)
        process.kill()
        process.wait()
        kept = files(Path(scratch) / "killed")
        print(f"with threads, killed after {len(kept)} files, resumed: ", end="", flush=True)
        start("killed").wait()
        same = kept.items() <= whole.items() and all(
            files(Path(scratch) / name) == whole for name in ("losing", "killed")
        )
        print(f"  the same bytes: {same}")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
