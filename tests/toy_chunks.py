"""Small work for the runner's tests, in a module that worker processes can import.

Run as a program it squares numbers in chunks, so that it can be killed:
``python toy_chunks.py DIRECTORY``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from quadsweep.distributed.store import Chunk, ChunkStore
from quadsweep.distributed.workers import local
from quadsweep.paper.experiments.runner import run


def squares(first: int, count: int, pause: float = 0.0, log: str = "") -> dict[str, np.ndarray]:
    """Squares of consecutive numbers; the log gets a line for each time this is done."""
    time.sleep(pause)
    numbers = np.arange(first, first + count)
    if log:
        handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{first}\n".encode())
        os.close(handle)
    return {"number": numbers, "square": numbers**2.0}


def fails_on_the_second(first: int) -> dict[str, np.ndarray]:
    if first == 1:
        raise RuntimeError("no second")
    return {"number": np.array([first])}


def square_chunks(chunks: int, size: int = 5, **how: object) -> list[Chunk]:
    return [
        Chunk(f"squares-{i:04d}", squares, {"first": i * size, "count": size, **how}, size)
        for i in range(chunks)
    ]


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    pieces = square_chunks(30, pause=0.03, log=str(directory / "log"))
    results = run("squares", pieces, ChunkStore(directory / "c"), local(2), resume=True)
    total = sum(float(columns["square"].sum()) for columns in results.values())
    (directory / "total").write_text(repr(total))
