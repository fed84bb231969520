"""The trials' data against the reference generator, and against themselves."""

from __future__ import annotations

import random

import numpy as np
import pytest

from quadsweep.paper.experiments.randomness import trial, trial_seeds, trials


class ReferenceTwister:
    """MT19937 as published, in plain whole numbers."""

    def __init__(self, key: list[int]) -> None:
        mt = [19650218]
        for i in range(1, 624):
            mt.append((1812433253 * (mt[-1] ^ mt[-1] >> 30) + i) & 0xFFFFFFFF)
        i, j = 1, 0
        for _ in range(max(624, len(key))):
            mt[i] = ((mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1664525) + key[j] + j) & 0xFFFFFFFF
            i, j = i + 1, (j + 1) % len(key)
            if i == 624:
                mt[0], i = mt[623], 1
        for _ in range(623):
            mt[i] = ((mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1566083941) - i) & 0xFFFFFFFF
            i += 1
            if i == 624:
                mt[0], i = mt[623], 1
        mt[0] = 0x80000000
        self.mt, self.at = mt, 624

    def word(self) -> int:
        if self.at == 624:
            for i in range(624):
                y = self.mt[i] & 0x80000000 | self.mt[(i + 1) % 624] & 0x7FFFFFFF
                self.mt[i] = self.mt[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
            self.at = 0
        y = self.mt[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def double(self) -> float:
        a, b = self.word() >> 5, self.word() >> 6
        return (a * 67108864 + b) / 9007199254740992


def reference_trial(number: int, n: int):
    primary = ReferenceTwister([123])
    for _ in range(4 * number):
        primary.word()
    key = [primary.word() for _ in range(4)]
    while len(key) > 1 and key[-1] == 0:
        key.pop()
    own = ReferenceTwister(key)
    return [own.double() for _ in range(n)], [own.double() for _ in range(n)]


@pytest.mark.parametrize("number", [0, 1, 2, 155, 156, 157, 1000])
def test_a_trial_is_what_the_reference_generator_gives(number):
    x, y = trial(number, 15)
    expected_x, expected_y = reference_trial(number, 15)
    assert x.tolist() == expected_x
    assert y.tolist() == expected_y


def test_a_trial_is_what_a_reader_with_the_standard_library_gets():
    primary = random.Random(123)
    seeds = [primary.getrandbits(128) for _ in range(50)]
    assert trial_seeds(0, 50) == seeds
    own = random.Random(seeds[49])
    x, y = trial(49, 20)
    assert x.tolist() == [own.random() for _ in range(20)]
    assert y.tolist() == [own.random() for _ in range(20)]


def test_a_trial_does_not_depend_on_the_batch_it_is_drawn_in():
    x, y = trials(0, 300, 7)
    for first, count in [(0, 1), (13, 100), (299, 1), (100, 200)]:
        part_x, part_y = trials(first, count, 7)
        assert np.array_equal(part_x, x[first : first + count])
        assert np.array_equal(part_y, y[first : first + count])


def test_trials_look_uniform_and_independent():
    x, y = trials(0, 2000, 15)
    both = np.concatenate([x, y])
    assert abs(both.mean() - 0.5) < 0.01
    assert abs(both.var() - 1 / 12) < 0.002
    assert abs(np.corrcoef(x.ravel(), y.ravel())[0, 1]) < 0.02
    assert both.min() >= 0
    assert both.max() < 1
    assert len(np.unique(both)) == both.size
