"""The test without each single row, for any number of controls and fixed effects.

With K the controls' hat matrix, h its diagonal, u, w and x what they leave of the instrument (least
squares: of the term), the outcome and the term, row i changes every other row as it goes:

    v_j += K_ij v_i / (1 - h_i)  for v = u, w, x,      b_i = u.w / u.x,      e = w - b_i x

and t = u.w / sqrt(f Q), Q the sum of squares of the scores u_j e_j or of their sums over clusters,
f the factor for small samples. Since row i of K has length sqrt(h_i), Q moves by little, and most
rows are decided by norms alone (``_farthest``); K is formed for the others, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.controls.robust import RobustProblem, count_columns, drop_singletons
from quadsweep.auditing.moments import Sums
from quadsweep.inputs.standard_errors import KNOWN

_LEFT = 1e-6  # of a row, of the term or of a leverage: with less left nothing is said


@dataclass(frozen=True)
class _Norms:
    """Of rows or clusters, each residual weighted as the scores are: its largest and whole norm."""

    scores: float  # of all
    by_term: float  # of u x
    u: float  # the largest
    e: float
    x: float
    weight: float


class SingleRowTests:
    """The statistic of all rows, and without each of some."""

    def __init__(self, problem: RobustProblem) -> None:
        m, self._problem, self._errors = problem.moments, problem, problem.errors
        self._design, self.n = m.design, m.design.n
        self._u, self._w = m.x, m.y
        self._x = m.x if problem.stage is None else problem.stage.y
        self._q, self._classes = m.q, m.classes
        self._h = m.basis.leverage
        self._used = m.rank + 1 + m.design.fixed
        everything = np.arange(self.n)
        self._counted = count_columns(m.design, everything, self._errors, self._used)
        labels = list(self._errors.clusters)
        if len(labels) == 2:
            labels.append(labels[0] * (int(labels[1].max()) + 1) + labels[1])
        self._labels = [np.unique(v, return_inverse=True)[1] for v in labels]
        self._power = {"HC2": 0.5, "HC3": 1.0}.get(self._errors.kind, 0.0)

    # ---- without each row ------------------------------------------------------------------

    @cached_property
    def _residual_leverages(self) -> Floats:
        return np.asarray(np.maximum(1 - self._h, _LEFT))

    def _products(self, a: Floats, b: Floats) -> Floats:
        """a.b without each row."""
        return np.asarray(float(a @ b) - a * b / self._residual_leverages)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """u.u, u.x and u.w without each row."""
        u = self._u
        return self._products(u, u), self._products(u, self._x), self._products(u, self._w)

    @cached_property
    def _slopes(self) -> Floats:
        _, moved, c = self._sums
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(c / moved)

    @cached_property
    def regular(self) -> Mask:
        """Rows whose removal leaves enough, and what the factors count as it is but for itself."""
        a, moved, _ = self._sums
        fine: Mask = (1 - self._h > _LEFT) & (a > _LEFT) & np.isfinite(self._slopes)
        fine &= np.abs(moved) > _LEFT * abs(float(self._u @ self._x))
        everything = np.arange(self.n)
        if not self._errors.singletons:
            fine &= len(drop_singletons(self._design, everything)) == self.n
        for codes in self._design.absorbed:
            fine &= np.bincount(codes)[codes] > 2
            for labels in self._labels[:2]:
                pair = codes * (int(labels.max()) + 1) + labels
                _, at, count = np.unique(pair, return_inverse=True, return_counts=True)
                # One pair fewer may nest the levels in the clusters.
                fine &= (count[at] > 1) | (len(count) != len(np.unique(codes)) + 1)
        return fine

    def _factors(self) -> tuple[Floats, Floats]:
        """Degrees of freedom of the test and the factor, without each row; of one way."""
        k, errors = self.n - 1, self._errors
        left = k - self._counted
        freedom = np.full(self.n, float(left))
        factor = k / left if errors.k_adj and left > 0 else 1.0
        if errors.kind == "cluster":
            factor = (k - (not errors.k_only)) / left if errors.k_adj and left > 0 else 1.0
            fewest = np.min(self._groups, axis=0)
            freedom = fewest - 1.0 if errors.cluster_freedom else np.full(self.n, k - self._used)
            freedom = np.where(fewest < 2, 0, freedom)
        return freedom, np.full(self.n, factor)

    @cached_property
    def _groups(self) -> list[Ints]:
        """Clusters of each way without each row."""
        return [int(v.max()) + 1 - (np.bincount(v)[v] == 1) for v in self._labels]

    def _scaled(self, way: int) -> Floats:
        """The factor of the clusters of one way, without each row."""
        errors = self._errors
        if not errors.g_adj:
            return np.ones(self.n)
        g = np.min(self._groups, axis=0) if errors.g_min else self._groups[way]
        return np.asarray(g / np.maximum(g - 1, 1))

    @property
    def sign(self) -> Floats:
        """That of the coefficient without each row."""
        _, moved, c = self._sums
        return np.asarray(np.sign(c) * np.sign(moved))

    # ---- by norms ----------------------------------------------------------------------------

    def farthest(self) -> Floats:
        """How far past its threshold the statistic is at most without each row, by norms, where it
        has the sign in question; infinite where norms do not tell."""
        plain = self._errors.kind in ("classical", KNOWN)
        if plain or len(self._labels) > 1 or self._used >= self.n - 1:
            return np.full(self.n, np.inf)
        b, right, u = float(self._u @ self._w / (self._u @ self._x)), self._x, self._u
        e = self._w - b * right
        more, root = np.abs(self._slopes - b), np.sqrt(self._h)
        norms, wider = self._norms(e)
        alpha = np.abs(u) / self._residual_leverages
        epsilon = np.abs(self._w - self._slopes * right) / self._residual_leverages
        moved = more * norms.by_term + root * (
            alpha * (norms.e + more * norms.x) + epsilon * norms.u
        )
        moved = moved + norms.weight * self._h * alpha * epsilon
        if self._problem.test.side == 0:
            q = wider * (norms.scores + moved)
        else:
            own = np.abs(u * e) * norms.weight
            q = np.maximum(norms.scores - own - moved, 0.0)
        factor = self._scaled(0) if self._labels else 1.0
        return self._excess(np.arange(self.n), q * q * factor)

    def _norms(self, e: Floats) -> tuple[_Norms, Floats]:
        """Those of all rows, and by how much leverages that rise widen the scores."""
        u, x, wider = self._u, self._x, np.ones(self.n)
        weight = np.ones(self.n)
        if self._power:
            lever = self._h + u * u / float(u @ u)
            left, highest = 1 - lever, float(lever.max())
            if not left.min() > _LEFT:
                wider = np.full(self.n, np.inf)
            with np.errstate(divide="ignore"):
                weight = np.maximum(left, _LEFT) ** -self._power
                ratio = 1 - highest / np.maximum(left, _LEFT)
                wider = np.where(ratio > 0, (1 - highest) / ratio, np.inf) ** self._power * wider

        def largest(column: Floats) -> float:
            square = (weight * column) ** 2
            return float(np.sqrt(self._by_cluster(square).max()))

        def whole(column: Floats) -> float:
            return float(np.linalg.norm(self._by_cluster(weight * column)))

        return (
            _Norms(whole(u * e), whole(u * x), largest(u), largest(e), largest(x), weight.max()),
            wider,
        )

    def _by_cluster(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self._labels[0], values) if self._labels else values)

    # ---- by the hat matrix -------------------------------------------------------------------

    def past(self, rows: Ints) -> Floats:
        """How far past its threshold the statistic is without each of these rows; NaN where that is
        not clear."""
        own, left = np.arange(len(rows)), self._residual_leverages[rows, None]
        k = self._q[rows] @ self._q.T
        if self._classes is not None:
            of_row, e = self._classes.of_row, self._classes.e
            mates = (of_row[rows, None] == of_row) & (of_row >= 0)
            k += np.where(mates, e[rows, None] * e, 0.0)
        slope = self._slopes[rows, None]
        rest = self._w - slope * self._x
        u = self._u + k * (self._u[rows, None] / left)
        scores = rest + k * (rest[own, rows][:, None] / left)
        scores[own, rows] = 0.0
        unclear = np.zeros(len(rows), dtype=bool)
        if self._errors.kind == "classical":
            freedom = self.n - 1 - self._counted if self._errors.k_adj else self.n - 2
            a = self._sums[0][rows]
            return self._excess(rows, (scores * scores).sum(axis=1) * a / freedom, plain=True)
        if self._errors.kind == KNOWN:
            a = self._sums[0][rows] / self._problem.moments.scale[1] ** 2
            return self._excess(rows, a, plain=True)
        scores *= u
        if self._power:
            share = 1 - self._h - k * k / left - u * u / self._sums[0][rows, None]
            share[own, rows] = 1.0
            unclear = share.min(axis=1) < _LEFT
            scores /= np.maximum(share, _LEFT) ** self._power
        if not self._labels:
            q = (scores * scores).sum(axis=1)
        else:
            q = np.zeros(len(rows))
            for way, labels in enumerate(self._labels):
                order = np.argsort(labels, kind="stable")
                first = np.append(0, np.cumsum(np.bincount(labels))[:-1])
                sums = np.add.reduceat(scores[:, order], first, axis=1)
                part = self._scaled(way)[rows] * (sums * sums).sum(axis=1)
                q += -part if way == 2 else part
        return np.where(unclear, np.nan, self._excess(rows, q))

    def _excess(self, rows: Ints, q: Floats, plain: bool = False) -> Floats:
        """By the sums of squares of the scores; NaN where these are rounding."""
        from scipy.special import ndtr, stdtrit

        freedom, factor = (v[rows] for v in self._factors())
        _, moved, c = (v[rows] for v in self._sums)
        variance = q if plain else factor * q
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(c) * self.sign[rows] / np.sqrt(variance)
            if self._errors.normal:
                beyond = np.maximum(freedom, 1)
                t = np.sign(t) * np.minimum(-stdtrit(beyond, ndtr(-np.abs(t))), 1e150)
            r = np.where(np.isinf(t), np.sign(t), t / np.sqrt(freedom + t * t))
            ones = np.ones(len(rows))
            rows_kept: Any = freedom.astype(int) + 1
            stand_in: Sums[Any] = Sums(rows_kept, 0, ones, ones, r, ones)
            past = self._problem.condition.excess(stand_in, (1.0, 1.0))
            small = np.sqrt(variance) <= 1e-9 * np.maximum(np.abs(moved), np.abs(c))
        return np.where(freedom < 1, -np.inf, np.where(small, np.nan, past))


_CANDIDATES = 400  # rows that are tried at each step: the best of the first one
_FIRST = 40_000_000  # entries of the hat matrix for the first step, above which it is not made
_WORK = 400_000_000  # and for all steps
_BETTER = 1e-12


class RowExchange:
    """Steps of one row, by the statistic without each of the candidates."""

    def __init__(self, problem: RobustProblem, check: Callable[[], object]) -> None:
        self._problem, self._check = problem, check
        self._n = problem.moments.design.n
        self._left = float(_WORK)
        self._candidates = np.arange(self._n)

    @staticmethod
    def handles(problem: object) -> bool:
        """Rows, and columns of which floating point tells what depends on what."""
        return (
            isinstance(problem, RobustProblem)
            and problem.moments.design.units is None
            and problem.moments.design.n**2 <= _FIRST
            and problem.moments.basis.clear
            and not problem.moments.degenerate
        )

    def greedy(self, most: int) -> Ints | None:
        """Remove the best row again and again; None where the claim does not break."""
        gone = np.zeros(0, dtype=np.int64)
        while len(gone) < most and self._left > 0:
            past = self._past(gone)
            if len(gone) == 0:
                self._candidates = np.sort(np.argsort(-past, kind="stable")[:_CANDIDATES])
            best = int(np.argmax(past))
            if past[best] == -np.inf:
                return None
            gone = np.sort(np.append(gone, best))
            if past[best] > 0 and self._problem.broken(gone):
                return gone
        return None

    def exchange(self, removal: Ints) -> Ints | None:
        """Exchange rows for better ones; None where the claim does not break before none is."""
        value, better = self._problem.excess(removal), True
        while better:
            better = False
            for row in removal.tolist():
                if self._left <= 0:
                    return None
                others = removal[removal != row]
                past = self._past(others)
                best = int(np.argmax(past))
                if best == row or not past[best] > value + _BETTER:
                    continue
                removal, value, better = np.sort(np.append(others, best)), float(past[best]), True
                if value > 0 and self._problem.broken(removal):
                    return removal
        return None

    def _past(self, gone: Ints) -> Floats:
        """How far past its threshold the statistic is without these rows and each candidate."""
        self._check()
        out = np.full(self._n, -np.inf)
        kept = np.delete(np.arange(self._n), gone)
        problem = self._problem.on_rows(kept)
        if problem.moments.degenerate or not problem.moments.basis.clear:
            return out
        test = SingleRowTests(problem)
        among = np.flatnonzero(np.isin(kept, self._candidates, assume_unique=True) & test.regular)
        self._left -= len(among) * len(kept)
        past = test.past(among)
        out[kept[among]] = np.where(np.isnan(past), -np.inf, past)
        return out
