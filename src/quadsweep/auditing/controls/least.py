"""The fewest units whose removal breaks a claim: from above by search, from below by proof.

With few controls the engine decides numbers of removals, and both ends meet; with many, bounds for
any number of controls are raised as far as they go. What is left is tried one by one where that is
feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing import least as auditing_least
from quadsweep.auditing.controls.case import Case
from quadsweep.auditing.controls.certified import CertifiedSide, Questions, Units, is_certified
from quadsweep.auditing.controls.conditions import Strong, Tilt
from quadsweep.auditing.controls.listing import Listing
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.proposals import Proposer
from quadsweep.auditing.controls.remaining import MOST_PAIRS
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.controls.watch import Watch
from quadsweep.clock import Stopped

_NOTHING = np.zeros(0, dtype=np.int64)
_PAIRS_BESIDE_THE_ENGINE = 1_000  # units up to which a bound by pairs is worth its time


class Least:
    """What is known about the fewest removals that break a claim.

    Attributes
    ----------
    removal : units whose removal breaks it, or None.
    lower : no fewer break it.
    status : ``optimal`` if nothing is left open, ``undecided``, ``time_limit``, ``interrupted``.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        most: int,
        clock: Watch,
        *,
        seed: int = 0,
        n_jobs: int = 1,
        state: dict[str, float] | None = None,
    ) -> None:
        self.removal: Ints | None = None
        self.lower = 1
        self.status = "optimal"
        self._cases, self._most, self._clock = cases, most, clock
        self._seed, self._n_jobs = seed, n_jobs
        self._state = {} if state is None else state

    @property
    def upper(self) -> int | None:
        return None if self.removal is None else len(self.removal)

    @property
    def last(self) -> int:
        """The largest number of removals that matters."""
        return self._most if self.removal is None else len(self.removal) - 1

    def run(self) -> Least:
        """From above, then from below, until they meet or something ends it."""
        if any(case.broken(_NOTHING) for case in self._cases):
            self.removal, self.lower = _NOTHING, 0
            return self
        try:
            self._search()
        except Stopped as stop:
            self.status = stop.status
        except KeyboardInterrupt:
            self.status = "interrupted"
        if self.removal is None and self.status not in ("optimal", "undecided"):
            self._shortcut()
        if self.status == "optimal" and self.lower <= self.last:
            self.status = "undecided"
        if self.lower > self.last:
            self.status = "optimal"
        return self

    def _offer(self, removal: Ints) -> None:
        if self.removal is None or len(removal) < len(self.removal):
            self.removal = removal
            self._state["upper"] = len(removal)

    def _shortcut(self) -> None:
        """The order of influence at all rows is known however short the time was."""
        for case in self._cases:
            for removal in Proposer(case, self._most, lambda: None).by_influence():
                self._offer(removal)

    def _raise(self, lower: int) -> None:
        self.lower = lower
        self._state["lower"] = lower

    def _search(self) -> None:
        """Quick removals, quick bounds, then better removals, then proofs."""
        check = self._clock.check
        proposers = [Proposer(case, self._most, check, self._seed) for case in self._cases]
        provers = [_prover(case, check) for case in self._cases]
        listings = [Listing(case, check) for case in self._cases]
        for proposer in proposers:
            for removal in proposer.quick():
                self._offer(removal)
        self._gallop(provers)
        for proposer in proposers:
            for removal in proposer.thorough():
                self._offer(removal)
        self._prove(provers, listings)

    def _prove(self, provers: Sequence[Prover | None], listings: Sequence[Listing]) -> None:
        if self.lower <= self.last and all(is_certified(case) for case in self._cases):
            self._decide(provers, listings)
            return
        while self.lower <= self.last:
            if not all(
                self._settled(prover, listing)
                for prover, listing in zip(provers, listings, strict=True)
            ):
                return
            if self.lower <= self.last:
                self._raise(self.lower + 1)

    def _decide(self, provers: Sequence[Prover | None], listings: Sequence[Listing]) -> None:
        """By the engine, which meets the upper end or leaves what it could not decide."""
        questions = Questions(
            self._clock, self._n_jobs, self._seed, Units(self._cases[0].moments.design.size)
        )
        sides = []
        for case, prover, listing in zip(self._cases, provers, listings, strict=True):
            assert prover is not None
            best = self.removal if self.removal is not None and case.broken(self.removal) else None
            sides.append(CertifiedSide(case, prover, listing, best, self.lower - 1))

        def note(found: auditing_least.Least) -> None:
            if found.kept is not None:
                self._offer(sides[0].others(found.kept))

        done = auditing_least.Least(sides, questions, self.last, note)  # type: ignore[arg-type]
        note(done)
        self._raise(max(self.lower, done.lower))
        if done.status not in ("optimal", "undecided"):
            raise Stopped(done.status)

    def _gallop(self, provers: Sequence[Prover | None]) -> None:
        """As far as the bounds go without branching."""
        step = 1
        while self.lower <= self.last:
            high = min(self.lower + step - 1, self.last)
            if all(self._refuted(prover, self.lower, high, branch=False) for prover in provers):
                self._raise(high + 1)
                step *= 2
            elif step == 1:
                return
            else:
                step = max(1, step // 4)

    def _refuted(self, prover: Prover | None, fewest: int, most: int, branch: bool) -> bool:
        self._clock.check()
        if prover is None:
            return False
        before = prover.nodes
        verdict = prover.refute(fewest, most, branch)
        self._clock.nodes += prover.nodes - before
        return verdict.proved

    def _settled(self, prover: Prover | None, listing: Listing) -> bool:
        """Whether it is known now that ``lower`` removals are not enough, or that they are."""
        at = self.lower
        if at > self.last or self._refuted(prover, at, at, branch=True):
            return True
        answer = listing.listed(at)
        if answer.kept is not None:
            self._offer(answer.kept)
        return answer.refuted or answer.kept is not None


def _prover(case: Case, check: Callable[[], object]) -> Prover | None:
    """Of the case itself; or of what must happen first, where no proof covers its test.

    A coefficient that is significant with one sign has that sign, whatever its standard error.
    """
    if not isinstance(case, RobustCase):
        pairs = _PAIRS_BESIDE_THE_ENGINE if is_certified(case) else MOST_PAIRS
        return Prover(case, check, most_pairs=pairs)
    if isinstance(case.condition, Strong):
        return Prover(Case(case.moments, Tilt(0.0, 0.0, case.condition.sign)), check)
    return None
