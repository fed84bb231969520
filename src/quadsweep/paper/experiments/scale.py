"""How many trials of what: the paper's counts, or few enough for two minutes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


def half(n: int) -> int:
    """The paper's k: half of the points, rounded up.

    >>> half(15), half(20)
    (8, 10)
    """
    return math.ceil(n / 2)


@dataclass(frozen=True)
class Scale:
    """Trial counts of every experiment.

    Attributes
    ----------
    separability : trials of table 1.
    sweep : for each n of table 2, trials of the quadratic sweep.
    methods : trials of each other method of table 2, for each n.
    one_direction : for each n, trials of the sweep that sorts in one direction.
    timing : trials for each n in ``timing_sizes``.
    large : for each large n, trials of the certified engine.
    """

    name: str
    separability: int
    sweep: Mapping[int, int]
    methods: int
    one_direction: Mapping[int, int]
    timing: int
    timing_sizes: tuple[int, ...]
    large: Mapping[int, int]


QUICK = Scale(
    name="quick",
    separability=50,
    sweep={15: 10_000, 20: 1_000, 25: 100},
    methods=20,
    one_direction={15: 2_000, 20: 200, 25: 20},
    timing=5,
    timing_sizes=(10, 12, 14, 16, 18, 20, 22, 24),
    large={100: 5, 1_000: 3, 10_000: 1},
)

PAPER = Scale(
    name="paper",
    separability=1_000,
    sweep={15: 1_000_000, 20: 100_000, 25: 10_000},
    methods=1_000,
    one_direction={15: 20_000, 20: 2_000, 25: 500},
    timing=100,
    timing_sizes=tuple(range(10, 31)),
    large={100: 100, 1_000: 100, 10_000: 20, 100_000: 5, 1_000_000: 3},
)

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}
