"""Audits of rows that are not in memory: the same sides and the same order of questions.

The engine is asked about leaves of a partition and the rows of some of them (``passes``), and where
it would have to open others they are read by one more pass. ``lower`` rests on refutations whose
bounds include the rounding of sums, ``upper`` on a subset whose sums break the claim whatever
rounding has done to them. Nothing is looked at in exact arithmetic: what only that could tell stays
undecided.

Everything is in placed units (``_core/outofcore/partition.hpp``), in which a correlation is what it
was and a slope is a power of two away.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.auditing import claims
from quadsweep.auditing.claims import Claim
from quadsweep.auditing.decisions import FOUND_NONE, UNKNOWN, Answer, Impatient
from quadsweep.auditing.fit import Fit, p_value
from quadsweep.auditing.least import Least
from quadsweep.auditing.rows import FEWEST_KEPT, drop_limit
from quadsweep.auditing.sides import Side, Strong, Threshold, Tilt, Weak
from quadsweep.auditing.verdict import Known, Verdict, message
from quadsweep.clock import Stopped
from quadsweep.inputs.frames import KEPT
from quadsweep.outofcore.flags import Decision, Flags, decide, listed, whole
from quadsweep.outofcore.result import cost
from quadsweep.outofcore.search import Asked, Leaves, Placing, Search
from quadsweep.outofcore.solve import Means, line_of
from quadsweep.outofcore.sources import Source
from quadsweep.progress import Removals, watching
from quadsweep.results.formatting import named_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ULP = 2.0**-52
_SLACK = 16 * _ULP  # of a correlation: thresholds as they are given to the engine
_PATIENCE = 20  # times what a question about rows in memory may take
_BRACKET_STEPS = 24


@dataclass(frozen=True)
class Rows:
    """The rows, of which nothing is known here but how many they are."""

    n: int
    is_turned: bool = False

    def turned(self) -> Rows:
        """The same with y turned over."""
        return replace(self, is_turned=not self.is_turned)


@dataclass(frozen=True)
class Sums:
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
    def of(cls, moments: Any, k: int, roundings: float) -> Sums:
        """From moments that are off by so many roundings, as ``centred_range`` has it."""
        sx, sy, sxx, sxy, syy = moments
        rel = (roundings + 8) * _ULP
        a, b, c = sxx - sx * sx / k, syy - sy * sy / k, sxy - sx * sy / k
        off = 4 * rel * sxx, 4 * rel * syy, 2 * rel * (sxx + syy)
        return cls(k, tuple(moments), a, b, c, *off)

    @property
    def varies(self) -> bool:
        return self.a > self.off_a and self.b > self.off_b

    @property
    def r(self) -> float:
        return self.c / math.sqrt(self.a) / math.sqrt(self.b) if self.varies else math.nan

    def tilt_exceeds(self, slope: float, margin: float, sign: int) -> bool:
        """Whether sign * (c - slope a) > margin sqrt(ab), for certain."""
        past = sign * (self.c - slope * self.a)
        off = self.off_c + abs(slope) * self.off_a + 4 * _ULP * abs(slope * self.a)
        root = math.sqrt(self.a + self.off_a) * math.sqrt(self.b + self.off_b) * (1 + 8 * _ULP)
        return self.varies and past - off > margin * root

    def r2_below(self, threshold: float) -> bool:
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
class Kept:
    """A subset: which rows, leaf by leaf, and their sums."""

    sums: Sums
    decision: Decision

    def __len__(self) -> int:
        return self.sums.k


@dataclass(frozen=True)
class Aim:
    """What the engine is asked to raise: an objective, or the covariance of two columns.

    ``mirrored``: with -y in the place of y.
    """

    objective: str = "cov"
    product: tuple[tuple[float, float], tuple[float, float]] | None = None
    mirrored: bool = False


class Asker:
    """Asks the engine about leaves, and opens those it wants to be opened."""

    def __init__(self, search: Search, leaves: Leaves, report: Any) -> None:
        self.search, self.leaves = search, leaves
        self.points = Rows(leaves.n)
        self.nodes = 0
        self.patience = math.inf
        self._report = report
        self._best: tuple[float, ...] | None = None

    @property
    def seconds(self) -> float:
        return self.search.clock.gone()

    @property
    def everything(self) -> Sums:
        """Of all rows."""
        return Sums.of(self.leaves.total().tolist(), self.points.n, self.leaves.ground.roundings)

    def check(self) -> None:
        """Raise Stopped when the time is over or the callback has had enough."""
        if self.search.clock.left() == 0:
            raise Stopped("time_limit")
        if self._report(self.nodes, self.seconds) is False:
            raise Stopped("interrupted")

    def least_squares(self, m: int) -> tuple[float, float]:
        """What no rows vary by less in x and y, with at most m removed."""
        least: tuple[float, float] = self.leaves.ground.least_squares(
            self.points.n - m, *self.leaves.gaps
        )
        return least

    def begin(self, m: int, aim: Aim) -> dict[str, Any]:
        """Concentration steps from all rows to n - m of them, leaves that are cut counted in part:
        what they promise, the leaves, and a real subset that keeps or drops those whole."""
        self.check()
        return self._asked(m, aim, until="begun")

    def proposed(self, m: int, aim: Aim) -> Kept | None:
        found = self.begin(m, aim)
        return self._kept(found, aim) if found["real"] else None

    def ask(self, m: int, aim: Aim, above: float, at_most: bool = True) -> Answer:
        """Is there a subset above, with at most (or exactly) m removed?"""
        while True:
            self.check()
            limit = min(self.search.clock.left(), _PATIENCE * self.patience)
            found = self._asked(
                m, aim, until="decided", above=above, at_most=at_most, time_limit=limit,
                callback=self._tell,
            )  # fmt: skip
            self.nodes += found["nodes"]
            if found["real"]:
                kept: Any = self._kept(found, aim)
                return Answer(kept)
            if found["refuted"]:
                return FOUND_NONE
            if found["status"] == "interrupted":
                raise Stopped("interrupted")
            if found["status"] == "time_limit":
                if self.search.clock.left() == 0:
                    raise Stopped("time_limit")
                raise Impatient
            if not len(found["wanted"]) or not self.search.open(self.leaves, found["wanted"]):
                return UNKNOWN

    def _asked(self, m: int, aim: Aim, **more: Any) -> dict[str, Any]:
        return self.search.ask(
            self.leaves, self.points.n - m, aim.objective, starts=self._starts(aim), tol=0.0,
            product=aim.product, mirrored=aim.mirrored, **more,
        )  # fmt: skip

    def _starts(self, aim: Aim) -> list[list[float]]:
        n = self.points.n
        every = (self.leaves.total() / n).tolist()
        return [_turned(every, aim.mirrored)]

    def _tell(self, score: float, bound: float, nodes: int, seconds: float) -> object:
        return self._report(self.nodes + nodes, self.seconds)

    def _kept(self, found: dict[str, Any], aim: Aim) -> Kept:
        leaves = self.leaves
        size = int(leaves.table[found["leaves"], 0].sum())
        size += len(found["rows"]) + int(found["copies"].sum())
        moments = _turned(found["moments"], aim.mirrored)
        return Kept(Sums.of(moments, size, leaves.ground.roundings), decide(found, leaves))


def _turned(moments: list[float], over: bool) -> list[float]:
    sx, sy, sxx, sxy, syy = moments
    return [sx, -sy, sxx, -sxy, syy] if over else list(moments)


# ---- the sides -----------------------------------------------------------------------------------


class StreamedSide:
    """A way in which a claim can break; as in ``sides``."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def aim(self) -> Aim:
        raise NotImplementedError

    def broken(self, kept: Any) -> bool:
        return kept is not None and self.breaks(kept.sums)

    def passed(self, kept: Any) -> bool:
        return self.broken(kept)

    def breaks(self, sums: Sums) -> bool:
        raise NotImplementedError

    def promises(self, k: int, estimate: float) -> bool:
        """Whether k rows with this value of the aim would break the claim."""
        raise NotImplementedError

    def propose(self, m: int) -> Kept | None:
        return self.asker.proposed(m, self.aim())

    def listed(self, asker: Any, m: int) -> Answer:
        return UNKNOWN

    def checked(self, answer: Answer) -> Answer:
        return answer if answer.refuted or self.broken(answer.kept) else UNKNOWN

    def begin(self, most: int) -> list[int]:
        """The leaves that are cut where the fewest removals seem to be that break the claim."""
        low, high, cut = 0, 1, None
        while high <= most:
            found = self.asker.begin(high, self.aim())
            if self.promises(self.asker.points.n - high, found["estimate"]):
                cut = found["wanted"]
                break
            if high == most:
                return []
            low, high = high, min(2 * high, most)
        while high - low > 1:
            middle = (low + high) // 2
            found = self.asker.begin(middle, self.aim())
            if self.promises(self.asker.points.n - middle, found["estimate"]):
                high, cut = middle, found["wanted"]
            else:
                low = middle
        return [] if cut is None else cut.tolist()


class StreamedTilt(StreamedSide):
    """sign * (slope - beta) > margin, in units of sd(y)/sd(x) of the subset."""

    def __init__(self, asker: Asker, side: Tilt) -> None:
        super().__init__(asker)
        ex, ey = asker.leaves.partition.placing[2:4]
        self.beta, self.margin, self.sign = math.ldexp(side.beta, ex - ey), side.margin, side.sign

    def aim(self) -> Aim:
        return Aim(product=((1.0, 0.0), (-self.sign * self.beta, float(self.sign))))

    def breaks(self, sums: Sums) -> bool:
        return sums.tilt_exceeds(self.beta, self.margin, self.sign)

    def promises(self, k: int, estimate: float) -> bool:
        return estimate > 0

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        """c - beta a > margin sqrt(ab) is at least margin times the least that a and b can be."""
        a, b = asker.least_squares(most)
        least = max(self.margin - _SLACK, 0.0) * math.sqrt(a) * math.sqrt(b) / asker.points.n
        return self.checked(asker.ask(most, self.aim(), least))


class StreamedStrong(StreamedSide):
    """sign * r > threshold(k)."""

    def __init__(self, asker: Asker, side: Strong) -> None:
        super().__init__(asker)
        self.threshold, self.sign = side.threshold, side.sign

    def aim(self) -> Aim:
        return Aim("r", mirrored=self.sign < 0)

    def breaks(self, sums: Sums) -> bool:
        return sums.tilt_exceeds(0.0, self.threshold(sums.k), self.sign)

    def promises(self, k: int, estimate: float) -> bool:
        return estimate > self.threshold(k)

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        t = self.threshold(asker.points.n - fewest) - _SLACK
        if t >= 1:
            return FOUND_NONE
        return UNKNOWN if t <= 0 else self.checked(asker.ask(most, self.aim(), t))


class StreamedWeak(StreamedSide):
    """|r| < threshold(k), where r of all rows, or -r if they are turned, is above it."""

    def __init__(self, asker: Asker, side: Weak, turned: bool) -> None:
        super().__init__(asker)
        self.threshold: Threshold = side.threshold
        self.sign = -1 if turned else 1

    def aim(self) -> Aim:
        return Aim("r", mirrored=self.sign > 0)

    def breaks(self, sums: Sums) -> bool:
        return sums.r2_below(self.threshold(sums.k))

    def passed(self, kept: Any) -> bool:
        if kept is None:
            return False
        return self.breaks(kept.sums) or kept.sums.tilt_exceeds(0.0, 0.0, -self.sign)

    def promises(self, k: int, estimate: float) -> bool:
        return estimate > -self.threshold(k)

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        t = self.threshold(asker.points.n - most)
        for at_most in (True, False) if fewest == most else (True,):
            answer = self.checked(self._below(asker, most, t, at_most))
            if answer is not UNKNOWN:
                return answer
        return UNKNOWN

    def _below(self, asker: Asker, m: int, t: float, at_most: bool) -> Answer:
        """Is r < t for some subset? By one tau after the other, as ``decisions`` has it."""
        loose = t + _SLACK
        if t <= 0 or loose >= 1:
            return FOUND_NONE if t <= 0 else UNKNOWN
        every = asker.everything
        tau, low, high = math.sqrt(every.b / every.a), 0.0, math.inf
        for _ in range(_BRACKET_STEPS):
            answer = asker.ask(m, self._at(tau, loose), 0.0, at_most)
            if answer.kept is None:
                return answer
            sums = answer.kept.sums  # type: ignore[attr-defined]
            if not sums.varies:
                break
            r, own = self.sign * sums.r, math.sqrt(sums.b / sums.a)
            if r < t:
                return answer
            reach = math.exp(math.acosh(max(r / loose, 1.0)))
            low, high = max(low, own / reach), min(high, own * reach)
            tau = math.sqrt(low * high)
            if low >= high:
                break
        return asker.ask(m, self.aim(), -loose, at_most)

    def _at(self, tau: float, t: float) -> Aim:
        root = math.sqrt((1 - t) / (1 + t))
        p = (-(1 - root) * tau, self.sign * (1 + root))
        q = (-(1 + root) * tau, self.sign * (1 - root))
        return Aim(product=(p, q))


def streamed(side: Side, asker: Asker, claim: Claim) -> StreamedSide:
    """The same side, asked of leaves."""
    if isinstance(side, Tilt):
        return StreamedTilt(asker, side)
    if isinstance(side, Strong):
        return StreamedStrong(asker, side)
    assert isinstance(side, Weak)
    return StreamedWeak(asker, side, claim.points.is_turned)


def open_first(sides: list[StreamedSide], asker: Asker, most: int) -> None:
    """The rows along the boundaries where the answer seems to be, in one pass."""
    wanted = sorted({leaf for side in sides for leaf in side.begin(most)})
    if wanted:
        asker.search.open(asker.leaves, np.array(wanted, dtype=np.int32))


# ---- the answer ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StreamedAudit(Verdict):
    """How few rows carry a conclusion, where the rows are not in memory.

    Attributes
    ----------
    claim, drop, lower, upper, before, after, status, message, n, max_drop, level, threshold, tol,
    nodes, seconds
        As in :class:`quadsweep.Audit`.
    outliers : array of row numbers, or None if there are more than 10,000 or none were found.
    missing : int
        Rows left out for a missing value.
    passes, rows_read, loaded : int
        As in :class:`quadsweep.outofcore.result.StreamedResult`.
    """

    names: tuple[str, str]
    missing: int
    passes: int
    rows_read: int
    loaded: int
    flags: Flags | None = field(repr=False)

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        lines = [("all rows", str(self.before))]
        if self.after is not None:
            gone = f"{self.upper:,} rows" if self.outliers is None else named_rows(self.outliers)
            lines += [("without them", str(self.after)), ("removed", gone)]
        lines.append(("certificate", self.certificate))
        if self.missing:
            lines.append(("left out", f"{self.missing:,} rows (missing values)"))
        lines.append(("search", cost(self)))
        return lines

    def _more(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "missing": self.missing,
            "passes": self.passes,
            "rows_read": self.rows_read,
            "loaded": self.loaded,
        }

    def flag(self, source: Any = None, column: str = KEPT) -> Any:
        """Which rows are kept, as :meth:`quadsweep.outofcore.result.StreamedResult.flag`."""
        return self._found().flag(source, column)

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """Write the source to a Parquet file with a column that says which rows are kept."""
        self._found().write(path, column)

    def to_frame(self) -> Any:
        """The rows that break the claim, where they are few, as a data frame."""
        return self._found().left_out(self.outliers, self.upper or 0)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Rows of the first part, kept and removed, and the line with and without them."""
        from quadsweep.plotting.passes import plot_streamed

        lines = [("all rows", self.before.slope, self.before.intercept)]
        if self.after is not None:
            lines.insert(0, ("without them", self.after.slope, self.after.intercept))
        return plot_streamed(self._found(), lines, f"of {self.n:,} rows", ax=ax)

    def _found(self) -> Flags:
        if self.flags is None:
            raise ValueError("no rows were found that break the claim, so none are flagged")
        return self.flags


def audit_in_passes(
    source: Source, claim: str, level: Any, threshold: Any, max_drop: Any, asked: Asked,
    means: Means,
) -> StreamedAudit:  # fmt: skip
    """The fewest rows of a source whose removal breaks a claim."""
    build = claims.get(claim)
    terms = claims.terms(claim, level, threshold, asked.tol)
    known: dict[str, Any] = {"upper": math.nan, "lower": 1}
    with watching(means.progress, Removals()) as callback:

        def report(nodes: int, seconds: float) -> object:
            return callback(known["upper"], known["lower"], nodes, seconds) if callback else None

        def note(least: Least) -> None:
            known["upper"] = math.nan if least.upper is None else least.upper
            known["lower"] = least.lower

        with means.search(source, asked, None) as search:
            asker = Asker(search, search.survey(), report)
            n = asker.points.n
            if n <= FEWEST_KEPT:
                raise ValueError(f"an audit needs at least 4 rows; got {n}")
            most = drop_limit(max_drop, n)
            before = asker.everything.fit(asker.leaves.partition.placing)
            claimed = build(asker.points, before, terms)
            found = _found(claimed, asker, most, note)
            return _answer(source, claim, claimed, terms, before, most, found, asker)


def _found(claimed: Claim, asker: Asker, most: int, note: Any) -> Known:
    sides: Any = [streamed(side, asker, claimed) for side in claimed.sides]
    every: Any = Kept(asker.everything, whole(asker.leaves))
    if any(side.broken(every) for side in sides):
        return Known(0, 0, every, "optimal", 0, asker.seconds)
    try:
        open_first(sides, asker, most)
    except Stopped as stop:
        return Known(1, None, None, stop.status, asker.nodes, asker.seconds)
    given: Any = asker
    least = Least(sides, given, most, note)
    return Known(least.lower, least.upper, least.kept, least.status, asker.nodes, asker.seconds)


def _answer(
    source: Source, claim: str, claimed: Claim, terms: claims.Terms, before: Fit, most: int,
    known: Known, asker: Asker,
) -> StreamedAudit:  # fmt: skip
    passes, leaves, kept = asker.search.passes, asker.leaves, known.kept
    n, placing = asker.points.n, asker.leaves.partition.placing
    flags = after = outliers = None
    if isinstance(kept, Kept):
        flags = Flags(source, kept.decision, passes.jobs)
        after = kept.sums.fit(placing)
        outliers = listed(flags, passes, n - len(kept))
    return StreamedAudit(
        claim=claim,
        drop=known.upper if known.lower == known.upper else None,
        lower=known.lower,
        upper=known.upper,
        outliers=outliers,
        before=before,
        after=after,
        status="robust" if known.upper is None and known.status == "optimal" else known.status,
        message=message(claimed, known, n, most),
        n=n,
        max_drop=most,
        level=terms.level,
        threshold=terms.threshold,
        tol=terms.tol,
        nodes=known.nodes,
        seconds=known.seconds,
        names=source.names,
        missing=int(leaves.missing.sum()),
        passes=passes.count,
        rows_read=passes.rows_read,
        loaded=len(leaves.row),
        flags=flags,
    )
