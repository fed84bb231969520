"""The search around scores (``_core/scores/``): robust and clustered standard errors with any
controls, effects inside the clusters, rows removed one by one or clusters as a whole.

Numbers of rows, clusters and columns kept enter the test by its threshold T, the critical value
times the root of the factor for small samples, as the library counts them (``controls.robust``):
of all removals in question that T is taken which makes the claim easiest to break.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.classes import partition
from quadsweep.auditing.controls.robust import (
    RobustProblem,
    count_columns,
    drop_singletons,
    nested,
)
from quadsweep.auditing.oracles import UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.refits import settled
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.span import Span, basis
from quadsweep.clock import Stopped

MOST_CONTROLS = 60  # columns beside the term, effects inside the clusters apart
_SLACK, _SLACK_NORMAL = 1e-9, 1e-7  # of a threshold, for its rounding
_ROUNDING = 4e-16  # of a column, times its condition and the root of the rows
_ROUNDED = 1e-10  # of a column: more is not handled
_NODES, _FEWEST_NODES = 1e6, 300.0  # of an audit without a limit on time: times items, at least
_AT_ONCE, _SHARE_AT_ONCE = 2.0, 0.1  # seconds for a bound that costs little, and of the time left


class ScoreSearch(Oracle):
    """Of tests that are significant, or not, with robust or one-way clustered errors."""

    problem: RobustProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._parts = ScoreParts(self.problem)
        self._nodes_left = max(_NODES / self._parts.items, _FEWEST_NODES)

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        if not isinstance(problem, RobustProblem) or problem.stage is not None:
            return False
        m, errors = problem.moments, problem.errors
        if not m.basis.clear or m.degenerate or errors.beside:
            return False
        rows = errors.kind in ("HC0", "HC1", "HC2", "HC3")
        clusters = errors.kind == "cluster" and len(errors.clusters) == 1
        return (rows or clusters) and ScoreParts(problem).usable

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        seconds = _AT_ONCE
        if self.resources.is_limited:
            seconds = max(seconds, _SHARE_AT_ONCE * self.resources.time_left())
        return self._ask(fewest, most, seconds, most_nodes=1).refuted

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        """Ask the search; where no time is given, until all questions together have taken so many
        nodes."""
        if self.resources.is_limited:
            return self._ask(fewest, most, patience)
        if self._nodes_left < 1:
            return UNDECIDED
        before = self.resources.nodes
        decision = self._ask(fewest, most, patience, self._nodes_left)
        self._nodes_left -= self.resources.nodes - before
        return decision

    def _ask(
        self, fewest: int, most: int, patience: float, most_nodes: float = math.inf
    ) -> Decision:
        resources, threshold = self.resources, self._parts.threshold(most)
        resources.check()
        if not math.isfinite(threshold) or most >= self._parts.items:
            return UNDECIDED
        found = _core.decide_scores(
            self._test, most, threshold, n_jobs=resources.n_jobs,
            memory_limit=resources.memory_limit, most_nodes=most_nodes,
            time_limit=resources.within(patience), progress=resources.count,
        )  # fmt: skip
        resources.nodes += int(found["count"])
        unit = self._parts.unit_of_item
        found["breaking"] = unit[found["breaking"]].tolist()
        found["unclear"] = [unit[items].tolist() for items in found["unclear"]]
        try:
            return settled(self.problem, found)
        except Stopped as stop:
            if most_nodes == 1 and stop.status == "time_limit":
                return UNDECIDED
            raise resources.stopped(stop.status) from None

    @cached_property
    def _test(self) -> _core.ScoreTest:
        m, parts, errors = self.problem.moments, self._parts, self.problem.errors
        sign = parts.sign
        columns = np.column_stack([parts.basis, m.x, sign * m.y])[parts.order]
        return _core.ScoreTest(
            np.ascontiguousarray(columns), parts.effect[parts.order],
            item_first=parts.first[0], unit_first=parts.first[1], cluster_first=parts.first[2],
            part_first=parts.first[3],
            exponent={"HC2": 0.5, "HC3": 1.0}.get(errors.kind, 0.0),
            gained=self.problem.test.side != 0, error=self._parts.error + 1e-15,
        )  # fmt: skip


class ScoreParts:
    """What goes together, and what that does to the threshold.

    Attributes
    ----------
    usable : whether clusters lie inside of items; or items inside of effects, and these inside of
        clusters.
    effect : for every row the root of its weight, or 0 where no effect has other items.
    basis : of the columns beside the term.
    """

    def __init__(self, problem: RobustProblem) -> None:
        self._problem, m = problem, problem.moments
        self._design, self._errors = m.design, problem.errors
        n, item = self._design.n, self._design.unit
        self.items = self._design.size
        self._cluster = self._errors.clusters[0] if self._errors.clusters else np.arange(n)
        self._whole = nested(self._cluster, item)
        self.usable = self._whole or nested(item, self._cluster)
        self.effect, self._unit = np.zeros(n), item + self.items
        self._classes: Ints | None = None  # of each row, or -1: those that are fitted by means
        self._q, self.error = m.q, float(m.error)
        for labels in self._partitions():
            own = np.where(labels >= 0, labels, item + n)
            inside = nested(own, item)  # they go with their items
            if inside and self._errors.kind in ("HC2", "HC3"):  # leverages have them
                continue
            if not inside and (
                self._whole or not nested(item, own) or not nested(own, self._cluster)
            ):
                continue
            span = Span(self._design.scaled[2], self._design.root_weights, labels)
            if not span.clear or span.rank != m.rank:
                continue
            self._classes, self._q = labels, span.q
            self.error = max(self.error, _ROUNDING * math.sqrt(n) * span.condition)
            if not inside:
                self.effect = np.where(labels >= 0, self._design.root_weights, 0.0)
                self._unit = own
            break
        if self._classes is None and m.classes is not None:
            self._q = np.zeros((n, self._design.q))  # see ``basis``
        self.usable &= self._q.shape[1] <= MOST_CONTROLS and self.error <= _ROUNDED

    def _partitions(self) -> Iterator[Ints]:
        """Dummies that may be fitted by means: the moments' own, effects, or any that are there."""
        if self._problem.moments.classes is not None:
            yield self._problem.moments.classes.of_row
        elif self._design.absorbed:
            yield from sorted(self._design.absorbed, key=lambda codes: -int(codes.max()))
        elif not self._whole:
            yield partition(self._design.controls, None)[0]

    @property
    def sign(self) -> int:
        """With which the outcome is taken."""
        return int(self._problem.condition.sign)  # type: ignore[attr-defined]

    @cached_property
    def basis(self) -> Floats:
        if self._classes is not None or self._problem.moments.classes is None:
            return self._q
        return basis(self._design.expanded().scaled[2]).q

    @cached_property
    def order(self) -> Ints:
        """The rows in the order of their items, units and clusters."""
        item = self._design.unit
        keys = (self._cluster, item) if self._whole else (item, self._unit, self._cluster)
        return np.asarray(np.lexsort(keys))

    @cached_property
    def unit_of_item(self) -> Ints:
        """The audit's number of each item, in the search's order."""
        item = self._design.unit[self.order]
        return np.asarray(item[np.array(self.first[0][:-1])])

    @cached_property
    def first(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Where items, units and clusters begin: rows, items and units; clusters inside of items:
        rows; and the ends."""
        labels = (v[self.order] for v in (self._design.unit, self._unit, self._cluster))
        starts = [np.concatenate([[0], np.flatnonzero(np.diff(v)) + 1, [len(v)]]) for v in labels]
        items, units, clusters = starts
        if self._whole:
            each = list(range(len(items)))
            return items.tolist(), each, each, clusters.tolist()
        return (
            items.tolist(),
            np.searchsorted(items, units).tolist(),
            np.searchsorted(units, clusters).tolist(),
            [],
        )

    # ---- the threshold --------------------------------------------------------------------------

    @cached_property
    def _counted(self) -> tuple[Ints, int, int]:
        """The rows that count, the columns, and the columns that the factors count."""
        d, errors, m = self._design, self._errors, self._problem.moments
        rows = np.arange(d.n) if errors.singletons else drop_singletons(d, np.arange(d.n))
        columns = m.rank
        if self._classes is not None:
            classes = self._classes[rows]
            columns = int(self._q.shape[1]) + len(np.unique(classes[classes >= 0]))
        used = columns + 1 + d.fixed
        return rows, used, count_columns(d, rows, errors, used)

    def threshold(self, most: int) -> float:
        """The T that up to so many items can make: largest, or smallest where significance is
        gained; infinite where that is not known."""
        rows, used, counted = self._counted
        errors, gained = self._errors, self._problem.test.side != 0
        clusters = len(np.unique(self._cluster[rows]))
        slack = _SLACK_NORMAL if errors.normal else _SLACK
        sizes = np.sort(np.bincount(self._design.unit[rows], minlength=self.items))
        gone, dropped = int(sizes[-most:].sum()), 0
        small: list[Ints] = []
        if not errors.singletons:
            small = self._small_effects(gone)
            if len(small) > 1:
                return math.inf
            for codes in small:
                left = np.bincount(codes[rows])
                dropped = int((np.cumsum(np.sort(left[left > 0]) - 1) <= gone).sum())
        if gained:
            emptied = 0
            if self._classes is not None:
                emptied = self._emptied(self._classes, most, dropped, small)
            at = len(rows), clusters, used - emptied, counted - emptied
            return self._threshold(*at) * (1 - slack)
        k = len(rows) - gone - dropped
        g = clusters - self._emptied(self._cluster, most, dropped, small)
        return self._threshold(k, g, used, counted) * (1 + slack)

    def _threshold(self, k: int, g: int, used: int, counted: int) -> float:
        errors, clustered = self._errors, self._errors.kind == "cluster"
        freedom = k - (used if clustered else counted)
        if clustered and errors.cluster_freedom:
            freedom = g - 1
        if min(k - used, k - counted, freedom) < 1 or counted < 1 or (clustered and g < 2):
            return math.inf
        factor = 1.0
        if errors.k_adj:
            factor = (k - (clustered and not errors.k_only)) / (k - counted)
        if clustered and errors.g_adj:
            factor *= g / (g - 1)
        return float(self._problem.test.critical[freedom]) * math.sqrt(factor)

    def _small_effects(self, gone: int) -> list[Ints]:
        """The effects with a level that may be left with one row where so many are removed; that
        row drops out, which makes levels of other effects smaller."""
        small = []
        for codes in self._design.absorbed:
            sizes = np.bincount(codes[self._counted[0]])
            if sizes[sizes > 0].min() <= 2 * gone + 1:
                small.append(codes)
        return small

    def _emptied(self, label: Ints, most: int, dropped: int, small: list[Ints]) -> int:
        """How many of these parts up to so many items can empty, and the rows that drop out."""
        rows = self._counted[0]
        rows = rows[label[rows] >= 0]
        part, item = label[rows], self._design.unit[rows]
        pairs = np.unique(np.column_stack([part, item]), axis=0)
        if len(np.unique(pairs[:, 0])) == len(pairs):  # inside of items
            return int(np.sort(np.bincount(pairs[:, 1]))[::-1][:most].sum()) + dropped
        left = np.unique(pairs[:, 0], return_counts=True)[1]
        if dropped:  # the last row of each level goes by itself
            for codes in small:
                levels = np.unique(np.column_stack([part, codes[rows]]), axis=0)[:, 0]
                left = left - np.unique(levels, return_counts=True)[1]
        return int((np.cumsum(np.sort(left)) <= most).sum())
