"""The data of a trial, from its number alone.

As the paper describes it: a primary Mersenne Twister seeded with 123 yields a 128-bit seed for each
trial, and the trial's own Mersenne Twister, seeded with it, draws X and then Y uniform on [0, 1].
Trial t takes the t-th seed, whatever experiment or n it is used for.

Both are the reference MT19937, as in Python's ``random``: a seed is cut into 32-bit words, the
least significant first, which are the key of ``init_by_array``; 128 bits are four outputs of
``genrand_int32``, the first the least significant; a double has 53 bits (``genrand_res53``), so
1 itself is never drawn. The paper's programs are in Julia, whose ``MersenneTwister`` is dSFMT: it
is seeded in another way and makes doubles of 52 bits. The trials therefore follow the same recipe
as the paper's and are not the same numbers.
"""

from __future__ import annotations

import random

import numpy as np

from quadsweep.arrays import Floats

PRIMARY_SEED = 123
SEED_BITS = 128


def trial_seeds(first: int, count: int) -> list[int]:
    """128-bit seeds of trials ``first``, ..., ``first + count - 1``.

    Examples
    --------
    >>> trial_seeds(7, 2) == [trial_seeds(7, 1)[0], trial_seeds(8, 1)[0]]
    True
    """
    primary = random.Random(PRIMARY_SEED)
    if first:
        primary.getrandbits(SEED_BITS * first)
    return [primary.getrandbits(SEED_BITS) for _ in range(count)]


def trials(first: int, count: int, n: int) -> tuple[Floats, Floats]:
    """X and Y of consecutive trials, one a row.

    Examples
    --------
    >>> x, y = trials(0, 3, 15)
    >>> x.shape, y.shape
    ((3, 15), (3, 15))
    """
    x, y = np.empty((count, n)), np.empty((count, n))
    own = random.Random()
    for t, seed in enumerate(trial_seeds(first, count)):
        own.seed(seed)
        x[t] = [own.random() for _ in range(n)]
        y[t] = [own.random() for _ in range(n)]
    return x, y


def trial(number: int, n: int) -> tuple[Floats, Floats]:
    """X and Y of one trial.

    Examples
    --------
    >>> x, y = trial(41, 20)
    >>> bool((x == trials(40, 5, 20)[0][1]).all())
    True
    """
    x, y = trials(number, 1, n)
    return x[0], y[0]
