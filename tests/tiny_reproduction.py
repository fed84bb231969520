"""A few trials of every experiment, for tests; run as a program it does table 1 and can be killed:
``python tiny_reproduction.py DIRECTORY``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from quadsweep.distributed.workers import local
from quadsweep.paper.experiments import table1
from quadsweep.paper.experiments.campaign import reproduce
from quadsweep.paper.experiments.scale import Scale

TINY = Scale(
    name="tiny",
    separability=4,
    sweep={15: 30, 20: 4, 25: 2},
    methods=2,
    one_direction={15: 6, 20: 2, 25: 1},
    timing=2,
    timing_sizes=(10, 11, 12),
    large={50: 2, 100: 1},
)

if __name__ == "__main__":
    table1.CHUNK = 1
    reproduce("table1", TINY, Path(sys.argv[1]), local(2, "threads"), resume=True)
