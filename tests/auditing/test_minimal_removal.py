"""The order in which the numbers of removals are asked about."""

from __future__ import annotations

import pytest

from quadsweep.auditing.minimal_removal import BreakMode, MinimalRemovalSearch
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision
from quadsweep.auditing.resources import OutOfPatience, Resources


class Proposals:
    """One removal of some units, whatever is asked for."""

    def __init__(self, units):
        self._units = units

    def quick(self):
        yield list(range(self._units))

    def nothing(self, *given):
        return iter(())

    at_first = by_influence = from_one = usual = thorough = from_random_start = nothing


class Costly:
    """Refutes what its patience is enough for, and finds where the best is far below."""

    finds, is_fast, is_necessary, is_search, is_about_one = True, False, False, False, False

    def __init__(self, resources, fewest, reach):
        self._resources, self._fewest, self._reach = resources, fewest, reach
        self.asked, self.spent = [], 0.0

    def refutes_at_once(self, fewest, most):
        return False

    def decide(self, fewest, most, patience):
        self._resources.check()
        self.asked.append((patience, fewest, most))
        if most >= self._fewest:
            if most > 1.5 * self._fewest:
                return Decision(list(range(most)))
        elif most <= self._reach * patience:
            return REFUTED
        self.spent += patience
        if self.spent > 60:
            self._resources.limit = 0.0
        raise OutOfPatience


def search(upper, fewest, reach):
    resources = Resources(1e9)
    oracle = Costly(resources, fewest, reach)
    found = MinimalRemovalSearch(
        [BreakMode(Proposals(upper), [oracle])], 10 * upper, resources
    ).run()
    return found, oracle.asked


@pytest.mark.parametrize("reach", [20, 100, 200])
def test_what_is_only_to_be_refuted_is_asked_from_below(reach):
    found, asked = search(10_000, 10_000, reach)
    assert found.status == "time_limit"
    assert found.upper == 10_000
    for patience in {p for p, _, _ in asked}:
        lows = [low for p, low, high in asked if p == patience and high < found.last]
        # One after the other, or the lower half of one before: never one above what is left open.
        refuted = 0
        for low, high in ((low, high) for p, low, high in asked if p == patience):
            if high < found.last:
                assert low <= max([refuted + 1, min(lows)])
                refuted = max(refuted, high)
    assert found.lower > 8 * reach / 2


def test_better_removals_are_still_looked_for_at_the_upper_end():
    found, _ = search(10_000, 100, 1e9)
    assert found.upper <= 151
    assert 50 < found.lower <= 100


class Partial(Costly):
    """Refutes the upper half of what it is asked about."""

    def decide(self, fewest, most, patience):
        self.asked.append((0.0, fewest, most))
        middle = (fewest + most + 1) // 2
        return REFUTED if middle == fewest else Decision(refuted_from=middle)


def test_what_is_left_below_a_part_that_was_refuted_is_asked_about():
    resources = Resources(1e9)
    oracle = Partial(resources, 0, 0)
    found = MinimalRemovalSearch([BreakMode(Proposals(100), [oracle])], 1000, resources).run()
    assert (found.lower, found.upper, found.status) == (100, 100, "optimal")
    assert [high for _, _, high in oracle.asked] == [99, 49, 24, 12, 6, 3, 1]


@pytest.mark.parametrize(("limit", "upper"), [(1e9, 5), (float("inf"), 9)])
def test_with_time_left_and_nobody_to_decide_local_search_goes_on(limit, upper):
    class Improving(Proposals):
        def from_random_start(self):
            self._units -= self._units > 5
            yield list(range(self._units))

    class Puzzled(Costly):
        def decide(self, fewest, most, patience):
            return UNDECIDED

    resources = Resources(limit)
    modes = [BreakMode(Improving(9), [Puzzled(resources, 1, 1)])]
    found = MinimalRemovalSearch(modes, 20, resources).run()
    assert (found.lower, found.upper, found.status) == (1, upper, "undecided")
