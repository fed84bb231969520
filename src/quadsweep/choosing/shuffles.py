"""Null data for permutation tests: x as it is, y in random order, in blocks.

Shuffle number i depends on the seed alone, not on how many are taken at a time or by how many
threads they are solved.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats
from quadsweep.clock import Clock
from quadsweep.progress import Tick

_BLOCK_SECONDS = 0.3  # about how long a block should take: the display and Ctrl-C wait for it
_BLOCK_NUMBERS = 5_000_000  # at most so many numbers in a block


def shuffled(y: Floats, rng: np.random.Generator, count: int) -> Floats:
    """``count`` rows, each y in random order.

    >>> rng = np.random.default_rng(0)
    >>> shuffled(np.arange(4.0), rng, 2)
    array([[2., 0., 1., 3.],
           [3., 2., 1., 0.]])
    """
    return np.array([rng.permutation(y) for _ in range(count)])


def check_pairs(objective: str) -> str:
    """Shuffling y must change something."""
    if objectives.get(objective).name == "var":
        raise ValueError("shuffling y needs an objective of both columns; 'var' uses x alone")
    return objective


def blocks(total: int, n: int, clock: Clock, tick: Tick, fixed: int | None = None) -> Iterator[int]:
    """Sizes of blocks that add up to ``total``, each of about the same time, or all ``fixed``.

    Ends early when the time is up or the callback returns False. The caller works on a block before
    it asks for the next one.
    """
    done, size = 0, fixed or 8
    most = max(1, _BLOCK_NUMBERS // n)
    while done < total:
        size = min(size, most, total - done)
        before = clock.gone()
        yield size
        done += size
        took = max(clock.gone() - before, 1e-6)
        if tick(done, total, clock.gone()) is False or clock.left() == 0:
            return
        if fixed is None:
            size = int(np.clip(size * _BLOCK_SECONDS / took, 1, 4 * size))
