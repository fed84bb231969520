"""The same questions about rows that are not in memory.

The engine is asked about leaves of a partition and the rows of some of them (``outofcore``), and
where it would have to open others they are read by one more pass. What is refuted rests on bounds
that include the rounding of sums, what is found on a subset whose sums break the claim whatever
rounding has done to them. Nothing is looked at in exact arithmetic: what only that could tell stays
undecided.

Everything is in placed units (``_core/outofcore/partition.hpp``), in which a correlation is what it
was and a slope is a power of two away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from quadsweep.auditing.claims import Condition, CorrelationAbove, CorrelationBelow, SlopeBeyond
from quadsweep.auditing.fit import Fit, p_value
from quadsweep.auditing.minimal_removal import RemovalHeuristic
from quadsweep.auditing.moments import Sums
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.threshold_schedule import Pair, ThresholdSchedule, correlation_below
from quadsweep.auditing.resources import Resources
from quadsweep.outofcore.flags import RowSelection as Rows
from quadsweep.outofcore.flags import decide, whole
from quadsweep.outofcore.search import Leaves, Placing, Search
from quadsweep.outofcore.solve import line_of

_ULP = 2.0**-52
_SLACK = 16 * _ULP  # of a correlation: thresholds as they are given to the engine
_PATIENCE = 20  # times what a question about rows in memory may take


@dataclass(frozen=True)
class RoundedSums:
    """Centred sums of a subset, each with what it may be off by."""

    k: int
    moments: tuple[float, ...]
    a: float
    b: float
    c: float
    off_a: float
    off_b: float
    off_c: float

    @classmethod
    def from_moments(cls, moments: Any, k: int, roundings: float) -> RoundedSums:
        """From moments that are off by so many roundings, as ``centred_range`` has it."""
        sx, sy, sxx, sxy, syy = moments
        rel = (roundings + 8) * _ULP
        a, b, c = sxx - sx * sx / k, syy - sy * sy / k, sxy - sx * sy / k
        off = 4 * rel * sxx, 4 * rel * syy, 2 * rel * (sxx + syy)
        return cls(k, tuple(moments), a, b, c, *off)

    @property
    def centred(self) -> tuple[float, float, float]:
        return self.a, self.b, self.c

    @property
    def varies(self) -> bool:
        return self.a > self.off_a and self.b > self.off_b

    @property
    def r(self) -> float:
        return self.c / math.sqrt(self.a) / math.sqrt(self.b) if self.varies else math.nan

    def slope_exceeds(self, slope: float, margin: float, sign: int) -> bool:
        """Whether sign * (c - slope a) > margin sqrt(ab), for certain."""
        past = sign * (self.c - slope * self.a)
        off = self.off_c + abs(slope) * self.off_a + 4 * _ULP * abs(slope * self.a)
        root = math.sqrt(self.a + self.off_a) * math.sqrt(self.b + self.off_b) * (1 + 8 * _ULP)
        return self.varies and past - off > margin * root

    def r_below(self, threshold: float) -> bool:
        """Whether |r| < threshold, for certain."""
        if not self.varies:
            return False
        root = math.sqrt(self.a - self.off_a) * math.sqrt(self.b - self.off_b) * (1 - 8 * _ULP)
        return abs(self.c) + self.off_c < threshold * root

    def fit(self, placing: Placing) -> Fit:
        """What a regression says, in the user's units."""
        slope, intercept = line_of(list(self.moments), self.k, placing)
        r = max(-1.0, min(self.r, 1.0))
        return Fit(self.k, slope, intercept, r, r * r, p_value(r, self.k))


@dataclass(frozen=True)
class Removal:
    """A subset, as the rows removed: how many, which, leaf by leaf; and the sums of the others."""

    size: int
    sums: RoundedSums
    rows: Rows

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True)
class Aim:
    """What the engine is asked to raise: an objective, or the covariance of two columns.

    ``mirrored``: with -y in the place of y.
    """

    objective: str = "cov"
    product: tuple[tuple[float, float], tuple[float, float]] | None = None
    mirrored: bool = False


@dataclass
class Engine:
    """Asks about leaves, and opens those that the engine wants to be opened."""

    search: Search
    leaves: Leaves
    resources: Resources
    is_full: bool = False  # leaves were not opened for lack of memory

    @property
    def n(self) -> int:
        return self.leaves.n

    @property
    def everything(self) -> Removal:
        """Nothing removed."""
        total = self.leaves.total().tolist()
        sums = RoundedSums.from_moments(total, self.n, self.leaves.loaded_partition.roundings)
        return Removal(0, sums, whole(self.leaves))

    def sums(self) -> Sums[Fraction]:
        """Of all rows, as claims are built from them."""
        k, a, b, c = (Fraction(v) for v in (self.n, *self.everything.sums.centred))
        return Sums(int(k), 1, a, b, c, b)

    def open(self, leaves: list[int]) -> bool:
        """Read the rows of some leaves; False where they do not fit in memory."""
        opened = bool(self.search.open(self.leaves, np.array(leaves, dtype=np.int32)))
        self.is_full |= not opened
        return opened

    def least_squares(self, m: int) -> tuple[float, float]:
        """What no rows vary by less in x and y, with at most m removed."""
        least: tuple[float, float] = self.leaves.loaded_partition.least_squares(
            self.n - m, *self.leaves.gaps
        )
        return least

    def begin(self, m: int, aim: Aim) -> dict[str, Any]:
        """Concentration steps from all rows to n - m of them, leaves that are cut counted in part:
        what they promise, the leaves, and a real subset that keeps or drops those whole."""
        self.resources.check()
        return self._search_size(m, aim, until="begun")

    def proposed(self, m: int, aim: Aim) -> Removal | None:
        found = self.begin(m, aim)
        return self._removal(found, aim) if found["real"] else None

    def ask(
        self, m: int, aim: Aim, above: float, patience: float, k_or_more: bool = True
    ) -> Decision:
        """Is there a subset above, with at most (or exactly) m removed? Not checked."""
        resources = self.resources
        while True:
            resources.check()
            limit = min(resources.time_left(), _PATIENCE * patience)
            found = self._search_size(
                m, aim, until="decided", above=above, k_or_more=k_or_more, time_limit=limit,
                callback=resources.report,
            )  # fmt: skip
            resources.nodes += found["nodes"]
            if found["real"]:
                removal: Any = self._removal(found, aim)
                return Decision(removal)
            if found["refuted"]:
                return REFUTED
            if found["status"] in ("interrupted", "time_limit"):
                raise resources.stopped(found["status"])
            if not len(found["wanted"]) or not self.open(found["wanted"].tolist()):
                return UNDECIDED

    def _search_size(self, m: int, aim: Aim, **more: Any) -> dict[str, Any]:
        """Search the removals of m rows."""
        every = (self.leaves.total() / self.n).tolist()
        return self.search.ask(
            self.leaves, self.n - m, aim.objective, starts=[_turned(every, aim.mirrored)], tol=0.0,
            product=aim.product, mirrored=aim.mirrored, **more,
        )  # fmt: skip

    def _removal(self, found: dict[str, Any], aim: Aim) -> Removal:
        leaves = self.leaves
        size = int(leaves.table[found["leaves"], 0].sum())
        size += len(found["rows"]) + int(found["copies"].sum())
        moments = _turned(found["moments"], aim.mirrored)
        sums = RoundedSums.from_moments(moments, size, leaves.loaded_partition.roundings)
        return Removal(self.n - size, sums, decide(found, leaves))


def _turned(moments: list[float], over: bool) -> list[float]:
    sx, sy, sxx, sxy, syy = moments
    return [sx, -sy, sxx, -sxy, syy] if over else list(moments)


class OutOfCoreProblem:
    """A condition on subsets of rows that are not in memory; as ``problem.BreakProblem``."""

    def __init__(self, condition: Condition, engine: Engine) -> None:
        self.engine = engine
        if isinstance(condition, SlopeBeyond):
            ex, ey = engine.leaves.partition.placing[2:4]
            condition = replace(condition, beta=math.ldexp(condition.beta, ex - ey))
        self.condition = condition

    @property
    def aim(self) -> Aim:
        condition = self.condition
        if isinstance(condition, SlopeBeyond):
            return Aim(
                product=((1.0, 0.0), (-condition.sign * condition.beta, float(condition.sign)))
            )
        if isinstance(condition, CorrelationAbove):
            return Aim("r", mirrored=condition.sign < 0)
        assert isinstance(condition, CorrelationBelow)
        return Aim("r", mirrored=condition.sign > 0)

    def broken(self, removal: Removal | None) -> bool:
        """Whether the claim breaks without these rows, for certain."""
        condition = self.condition
        if removal is None:
            return False
        sums = removal.sums
        if isinstance(condition, SlopeBeyond):
            return sums.slope_exceeds(condition.beta, condition.margin, condition.sign)
        if isinstance(condition, CorrelationAbove):
            return sums.slope_exceeds(0.0, condition.threshold(sums.k - 2), condition.sign)
        assert isinstance(condition, CorrelationBelow)
        return sums.r_below(condition.threshold(sums.k - 2))

    def excess(self, sums: RoundedSums) -> float:
        """How far past its threshold a subset is, about: beyond the range as well where it broke
        the claim on the way; minus infinity where that is undefined."""
        condition = self.condition
        if not sums.varies or sums.k < 3:
            return -math.inf
        if isinstance(condition, SlopeBeyond):
            lean = condition.beta * math.sqrt(sums.a / sums.b)
            return condition.sign * (sums.r - lean) - condition.margin
        assert isinstance(condition, (CorrelationAbove, CorrelationBelow))
        t, r = condition.threshold(sums.k - 2), condition.sign * sums.r
        return r - t if isinstance(condition, CorrelationAbove) else t - r

    def promised(self, k: int, estimate: float) -> float:
        """How far k rows with this value of the aim would be past it."""
        condition = self.condition
        if isinstance(condition, SlopeBeyond):
            return estimate
        assert isinstance(condition, (CorrelationAbove, CorrelationBelow))
        t = condition.threshold(k - 2)
        return estimate - (t if isinstance(condition, CorrelationAbove) else -t)


class OutOfCoreHeuristic(RemovalHeuristic):
    """Removals by concentration steps over leaves."""

    def __init__(self, problem: OutOfCoreProblem, most: int) -> None:
        self._problem, self.most = problem, most
        self._near = 1  # about as many

    def quick(self) -> Iterator[Removal]:
        """About where the boundary was looked for, as few as real subsets allow."""
        best: list[Removal] = []

        def past(m: int) -> float:
            removal = self._problem.engine.proposed(m, self._problem.aim)
            if removal is not None and self._problem.broken(removal):
                best.append(removal)
            return -math.inf if removal is None else self._problem.excess(removal.sums)

        least_past(self.most, past, self._near)
        yield from best

    def boundary(self) -> list[int]:
        """The leaves that are cut where the fewest removals seem to be that break the claim."""
        problem, engine, cut = self._problem, self._problem.engine, np.zeros(0, dtype=np.int32)

        def past(m: int) -> float:
            nonlocal cut
            found = engine.begin(m, problem.aim)
            by = problem.promised(engine.n - m, found["estimate"])
            if by > 0 and m <= self._near:
                self._near, cut = m, found["wanted"]
            return by

        self._near = self.most
        if least_past(self.most, past) is None:
            self._near = 1
        return list(cut.tolist())


def least_past(most: int, past: Callable[[int], float], near: int = 1) -> int | None:
    """The least number up to ``most`` for which ``past`` is positive, if it rises; None if none is.

    From ``near`` on in steps that grow, and then between, as if it were linear there; the value of
    an end that stays counts half (the Illinois rule).

    >>> least_past(1000, lambda m: m * m - 90_000.5)
    301
    """
    low, high, step = 0, min(near, most), max(1, near // 256)
    below, above = -math.inf, past(high)
    while not above > 0:
        if high == most:
            return None
        low, below, high, step = high, above, min(high + step, most), 8 * step
        above = past(high)
    moved = ""
    while high - low > 1:
        share = below / (below - above)
        middle = (
            low + math.ceil(share * (high - low)) if math.isfinite(share) else (low + high) // 2
        )
        middle = min(max(middle, low + 1), high - 1)
        value = past(middle)
        if value > 0:
            below = below / 2 if moved == "high" else below
            high, above, moved = middle, value, "high"
        else:
            above = above / 2 if moved == "low" else above
            low, below, moved = middle, value, "low"
    return high


class OutOfCore(Oracle):
    """Asks the engine about leaves."""

    is_fast = True
    problem: Any

    def __init__(self, problem: OutOfCoreProblem, resources: Resources) -> None:
        self.problem, self.resources = problem, resources
        if isinstance(condition := problem.condition, CorrelationAbove):
            self._rising = ThresholdSchedule(
                condition, problem.engine.n, condition.sign * problem.engine.everything.sums.r
            )

    @classmethod
    def handles(cls, problem: Any) -> bool:
        return isinstance(problem, OutOfCoreProblem)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        engine: Engine = self.problem.engine
        condition, n = self.problem.condition, engine.n
        if isinstance(condition, CorrelationBelow):
            t = condition.threshold(n - most - 2)
            for k_or_more in (True, False) if fewest == most else (True,):
                found = self._checked(self._below(condition, most, t, patience, k_or_more))
                if found.decided:
                    return found
            return UNDECIDED
        if isinstance(condition, SlopeBeyond):
            # c - beta a > margin sqrt(ab) is at least margin times the least that a and b can be.
            a, b = engine.least_squares(most)
            least = max(condition.margin - _SLACK, 0.0) * math.sqrt(a) * math.sqrt(b) / n
            return self._checked(engine.ask(most, self.problem.aim, least, patience))
        return self._rising.decide(
            fewest,
            most,
            lambda m, t: self._above(m, t, patience),
            lambda removal: condition.sign * removal.sums.r,
            self.problem.broken,
        )

    def _above(self, m: int, t: float, patience: float) -> Decision:
        """Is r above t for some subset? Not checked."""
        least = t - _SLACK
        if least >= 1 or least <= 0:
            return REFUTED if least >= 1 else UNDECIDED
        engine: Engine = self.problem.engine
        return engine.ask(m, self.problem.aim, least, patience)

    def _checked(self, found: Decision) -> Decision:
        removal: Any = found.removal
        return found if found.refuted or self.problem.broken(removal) else UNDECIDED

    def _below(
        self, condition: CorrelationBelow, m: int, t: float, patience: float, k_or_more: bool
    ) -> Decision:
        """Is r < t for some subset? By one tau after the other, as ``plane`` has it."""
        engine: Engine = self.problem.engine
        loose = t + _SLACK
        if t <= 0 or loose >= 1:
            return REFUTED if t <= 0 else UNDECIDED
        every = engine.everything.sums

        def ask(p: Pair, q: Pair) -> Decision:
            return engine.ask(m, Aim(product=(p, q)), 0.0, patience, k_or_more)

        def place(removal: Removal) -> tuple[float, float] | None:
            sums = removal.sums
            return (condition.sign * sums.r, math.sqrt(sums.b / sums.a)) if sums.varies else None

        known = correlation_below(
            loose, condition.sign, math.sqrt(every.b / every.a), ask, place, enough=t
        )
        if known is not None:
            return known
        return engine.ask(m, self.problem.aim, -loose, patience, k_or_more)
