"""Does any removal break the claim? Asked of the engine's boxes, for a few controls.

    Tilt        partial r of x and sign (y - beta x) above 0
    Strong      partial r above t, the threshold of the most degrees of freedom in question
    Weak        partial r below t, that of the fewest
    Determined  R2 of y on the controls and x above t (R2 that falls is left to other proofs)

The engine is given the columns and weights as they are and combines them to 32 digits. A weight's
root and the coefficients of a combination are rounded, which moves a correlation by a few ulps
whatever the controls; thresholds are loosened by ``SLACK`` of one, and what is found is checked
exactly, so that it can only be a removal that does break the claim. Where columns depend on each
other so nearly that 32 digits do not tell, the engine names the subset, and the check decides. It
is not asked at all about columns whose squares 32 digits do not hold (``_beyond``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.auditing.controls.case import Case
from quadsweep.auditing.controls.conditions import Determined, Strong, Tilt, Weak
from quadsweep.auditing.controls.design import Design
from quadsweep.auditing.controls.listing import Listing
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.proposals import concentrated, lowest
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.controls.watch import Watch
from quadsweep.auditing.decisions import FOUND_NONE, UNKNOWN, Answer, Impatient
from quadsweep.clock import Stopped
from quadsweep.least_squares import has_close_rows

MOST_CONTROLS = 5  # columns besides the term, the intercept included
MOST_FOR_A_SIGN = 6  # the same where tau is not searched
SLACK = 1e-9
_WIDEST = 1e15  # of what a row usually adds to a column: the largest entry. 32 digits hold squares
_BRACKET_STEPS = 24


def is_certified(case: Case) -> bool:
    """Whether the engine can decide about it."""
    most = MOST_FOR_A_SIGN if isinstance(case.condition, Tilt) else MOST_CONTROLS
    if isinstance(case, RobustCase) or not 1 <= case.moments.rank <= most:
        return False
    if _beyond(case.moments.design):
        return False
    return not (isinstance(case.condition, Determined) and case.condition.sign < 0)


def _beyond(design: Design) -> bool:
    """Whether offsets, sentinels and weights hide what some rows say from 32 digits."""
    heavy, light = design.root_weights.max(), design.root_weights.min()
    for column in (design.x, design.y, *design.controls.T):
        away = np.abs(column - np.median(column))
        if np.any(away > 0):
            usual = float(np.median(away[away > 0])) * light
            if float(np.abs(column).max()) * heavy > _WIDEST * usual:
                return True
        if has_close_rows(column, len(column) // 4, _WIDEST):
            return True
    return False


@dataclass
class Units:
    """How many there are, as the search for the least number wants to know it."""

    n: int


@dataclass
class Questions:
    """What all questions share: the limit on time, the threads, and how long one may take."""

    watch: Watch
    n_jobs: int
    seed: int
    points: Units
    patience: float = math.inf

    def check(self) -> None:
        self.watch.check()

    def ask(self, question: Any, *columns: Any, **settings: Any) -> Answer:
        """The units that are kept, that there are none, or Impatient."""
        self.check()
        nodes = self.watch.nodes

        def report(value: float, bound: float, more: int, seconds: float) -> object:
            return self.watch.callback(nodes + more, self.watch.gone())

        limit = min(self.watch.left(), self.patience)
        found = question(
            *columns, **settings, seed=self.seed, n_jobs=self.n_jobs, progress=report,
            time_limit=limit if math.isfinite(limit) else None,
        )  # fmt: skip
        self.watch.nodes += int(found["nodes"])
        if len(found["inliers"]):
            return Answer(np.sort(found["inliers"]))
        if found["decided"]:
            return FOUND_NONE
        if found["status"] == "time_limit" and self.watch.left() > 0:
            raise Impatient
        raise Stopped(str(found["status"]))


@dataclass
class CertifiedSide:
    """A case as the search for the least number asks about it; subsets are of units kept."""

    case: Case
    prover: Prover
    listing: Listing
    best: Ints | None = None  # a removal that breaks the claim
    proved: int = 0  # no removal of up to so many units does
    groups: Ints | None = field(init=False)

    def __post_init__(self) -> None:
        design = self.case.moments.design
        self.groups = None if design.units is None else design.unit

    def others(self, units: Ints) -> Ints:
        """All units but these."""
        inside = np.ones(self.case.moments.design.size, dtype=bool)
        inside[units] = False
        return np.flatnonzero(inside)

    def broken(self, kept: Ints) -> bool:
        return self.case.broken(self.others(kept))

    def passed(self, kept: Ints) -> bool:
        return self.case.passed(self.others(kept))

    def propose(self, m: int) -> Ints:
        """A good subset with m units removed."""
        if self.best is not None and len(self.best) <= m:
            return self.others(self.best)
        found = concentrated(self.case, m)
        if found is None:
            found = lowest(self.case.gain(np.zeros(0, dtype=np.int64)), m)
        return self.others(found)

    def listed(self, asker: Questions, m: int) -> Answer:
        """All removals of m units, where they are few."""
        answer = self.listing.listed(m)
        return answer if answer.kept is None else Answer(self.others(answer.kept))

    def decide(self, asker: Questions, fewest: int, most: int) -> Answer:
        """A subset with ``most`` or fewer units removed that breaks the claim, or a proof that none
        does with ``fewest`` to ``most`` removed."""
        if most <= self.proved:
            return FOUND_NONE
        for at_least in (True, False) if fewest == most else (True,):
            answer = self._ask(asker, fewest, most, at_least)
            if answer.refuted:
                return answer
            if answer.kept is not None:
                found = self._usable(self.others(answer.kept))
                if found is not None:
                    return Answer(self.others(found))
        return self.listed(asker, most) if fewest == most else UNKNOWN

    def _usable(self, removal: Ints) -> Ints | None:
        """The removal, or one on the way to it, if it breaks the claim."""
        if self.case.broken(removal):
            return removal
        if not isinstance(self.case.condition, Weak):
            return None
        order = removal[np.argsort(self.case.gain(removal)[removal])]
        for path in (order, order[::-1]):
            for m in range(1, len(path)):
                part = np.sort(path[:m])
                if self.case.excess(part) > -1e-6 and self.case.broken(part):
                    return part
        return None

    def _ask(self, asker: Questions, fewest: int, most: int, at_least: bool) -> Answer:
        how, design = self.case.condition, self.case.moments.design
        k = design.size - most
        settings: dict[str, Any] = {
            "at_least": at_least, "groups": self.groups, "weights": design.weights,
        }  # fmt: skip
        if isinstance(how, Determined):
            return self._ask_r2(asker, how, k, settings)
        assert isinstance(how, (Tilt, Strong, Weak))
        mix = (1.0, 0.0, 0.0, float(how.sign))
        if isinstance(how, Tilt):
            mix = (1.0, 0.0, -how.sign * how.beta, float(how.sign))
            settings |= {"side": "above", "t": min(how.margin - SLACK, 0.0)}
        elif isinstance(how, Strong):
            t = self.prover.strong_threshold(how, fewest, most) - SLACK
            if t >= 1:
                return FOUND_NONE
            settings |= {"side": "above", "t": max(t, 0.0)}
        else:
            t = self.prover.weak_threshold(how, most) + SLACK
            if t >= 1:
                return UNKNOWN
            answer = self._by_products(asker, t, k, settings)
            if answer is not None:
                return answer
            settings |= {"side": "below", "t": t}
        return self._ask_partial(asker, k, mix=mix, **settings)

    def _ask_partial(self, asker: Questions, k: int, **settings: Any) -> Answer:
        """About the partial correlation of two combinations of x and y."""
        design = self.case.moments.design
        z = np.ascontiguousarray(design.controls)
        return asker.ask(_core.several_partial, design.x, design.y, z, k, **settings)

    def _by_products(
        self, asker: Questions, t: float, k: int, settings: dict[str, Any]
    ) -> Answer | None:
        """r below t, one tau at a time, as a sign; None where no tau is left.

        t (tau^2 a + b) - 2 tau c, up to a factor, is what Z leaves of p.q, as in ``decisions``: a
        tau for which no subset has it positive proves that none has r < t, and a subset with r >= t
        stands in the way of every tau further than acosh(r / t) from its own.
        """
        how, scale = self.case.condition, self.case.moments.scale
        assert isinstance(how, Weak)
        if not min(scale) > 0:
            return None
        root = math.sqrt((1 - t) / (1 + t))
        of_y = how.sign / scale[1]
        tau, low, high = 1.0, 0.0, math.inf
        for _ in range(_BRACKET_STEPS):
            of_x = tau / scale[0]
            p = (-(1 - root) * of_x, (1 + root) * of_y)
            q = (-(1 + root) * of_x, (1 - root) * of_y)
            answer = self._ask_partial(asker, k, side="above", t=0.0, mix=(*p, *q), **settings)
            if answer.kept is None:
                return answer
            own = self.case.residuals(self.others(answer.kept))
            if not (own.a > 1e-12 and own.b > 1e-12):
                return None
            r, at = how.sign * own.c / math.sqrt(own.a * own.b), math.sqrt(own.b / own.a)
            if r < t:
                return answer
            reach = math.exp(math.acosh(max(r / t, 1.0)))
            low, high = max(low, at / reach), min(high, at * reach)
            if low >= high:
                return None
            tau = math.sqrt(low * high)
        return None

    def _ask_r2(
        self, asker: Questions, how: Determined, k: int, settings: dict[str, Any]
    ) -> Answer:
        design = self.case.moments.design
        at = design.intercept
        others = [i for i in range(design.q) if i != at]
        columns = np.column_stack([design.controls[:, others], design.x])
        return asker.ask(
            _core.several_fit, columns, design.y, k, objective="r2", intercept=at is not None,
            above=max(how.threshold - SLACK, 0.0), **settings,
        )  # fmt: skip
