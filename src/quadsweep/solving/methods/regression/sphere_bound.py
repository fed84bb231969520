"""A bound on spheres around a good fit: squares truncated at t, by quartics and their moments.

On |b| = rho the sum of any k rows is at least a quartic in b: each row's excess (e^2 - t)_+ is
replaced by a quartic above it (``_core/many_predictors/quartics.hpp``). With v = (1, b / rho) /
sqrt 2 and v2 the products of two entries of v, the quartic is -v2' H v2, |v2| = 1 on the sphere,
and for every X with

    H - X = N + B(g),    N zero on all v2,    B(g) the matrix of (v_0^2 - |v|^2 / 2) g(v),

it is at least minus the largest eigenvalue of X. ADMM finds an X for which that is small; its
multipliers are the moments of coefficients where the quartic is least, for which quartics are
chosen again. The same X serves some way inwards, so that shells are swept from outside
(docs/theory/many-predictors.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Mask
from quadsweep.solving.methods.regression.placement import UNIT, Rows


class Counter(Protocol):
    """What counts choices of quartics and says when to end."""

    nodes: int

    def goes_on(self) -> bool: ...


MOST_DIMENSION = 1000  # products of two of p + 2 numbers, p <= 42
_STEPS = 3  # of ADMM for each choice of quartics
_APART, _CHANGE = 3.0, 1.5  # residuals of ADMM: from which ratio on the penalty changes, by what
_NEAR = 0.996  # of the radius, to which a shell must reach inwards for rounds to end


@dataclass(frozen=True)
class Certificate:
    """What proves a shell: the sum is at least minus (largest n^2 + multiple (1 - n) n / 2 +
    error), n = (1 + |b|^2 / rho^2) / 2, for |b| <= rho."""

    radius: float
    largest: float  # eigenvalue of X
    multiple: float  # largest eigenvalue of g
    error: float
    threshold: float  # for which it was found

    @property
    def least(self) -> float:
        """The bound on the sphere itself."""
        return -self.largest - self.error

    def inner_radius(self, goal: float) -> float:
        """Down to which the sum is at least the goal; the radius itself where it is not there."""
        if not self.least >= goal:
            return self.radius
        square, linear = self.largest - 0.5 * self.multiple, 0.5 * self.multiple
        constant = goal + self.error  # square n^2 + linear n + constant <= 0 at n = 1
        constant += 1e-12 * (abs(square) + abs(linear) + abs(constant))
        # The largest root below 1, from the quadratic in 1 - n, which is negative at zero.
        at_one, slope = square + linear + constant, 2 * square + linear
        if at_one > 0:
            return self.radius
        under = slope * slope - 4 * square * at_one
        root = math.sqrt(max(under, 0.0))
        # square x^2 - slope x + at_one = 0, x = 1 - n: the least positive x
        below = root - slope
        x = -2 * at_one / below if under >= 0 and below > 0 else 0.5
        n = min(max(0.5, 1 - x) * (1 + 1e-9) + 1e-9, 1.0)
        if not (square * n + linear) * n + constant <= 0:
            return self.radius
        return self.radius * math.sqrt(max(2 * n - 1, 0.0)) * (1 + 1e-12)


@dataclass(frozen=True)
class State:
    """What goes on from one shell to the next."""

    threshold: float
    moments: Floats  # of v2
    matrix: Floats | None = None  # X
    multiplier: Floats | None = None  # of the step before, scaled
    quartics: Floats | None = None  # of each row, averaged
    count: int = 0  # of choices that they are the average of
    penalty: float = 0.0


@dataclass(frozen=True)
class Attempt:
    """How far inwards a goal is reached, the bound on the sphere, and what goes on from there."""

    reached: float
    least: float
    state: State
    proof: Certificate | None  # None where nothing is reached


class Spheres:
    """Quartics of all rows on spheres of coefficients."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        q = rows.z.shape[1]
        self.q, self.forms = q, _core.SphereForms(q + 1)
        i, j = np.triu_indices(q)
        self.degrees = np.concatenate([[0], np.full(q, 1), np.full(len(i), 2)])
        self._i, self._j = i, j
        self.pairs = rows.z[:, i] * rows.z[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))

    def start(self, threshold: float) -> State:
        """All directions."""
        q, d = self.q, self.forms.dimension
        moments = np.zeros((d, d))
        square = 1 + q + np.flatnonzero(self._i == self._j)
        moments[0, 0] = 0.25
        moments[0, square] = moments[square, 0] = 0.25 / q
        moments[range(1, q + 1), range(1, q + 1)] = 0.5 / q
        fourth = 0.25 / (q * (q + 2))
        moments[range(q + 1, d), range(q + 1, d)] = 2 * fourth
        moments[np.ix_(square, square)] += fourth
        return State(threshold, moments)

    def bound(
        self, radius: float, goal: float, inner: float, state: State, rounds: int, watch: Counter
    ) -> Attempt:
        """So many choices of quartics, or fewer where the goal is reached well inwards."""
        shell = _SphereSum(self, radius, state.threshold)
        least, reached, proof = -math.inf, radius, None
        for number in range(rounds):
            state = shell.improve(state)
            watch.nodes += 1
            if number % _STEPS == _STEPS - 1 or number == rounds - 1:
                certificate = shell.certify(state)
                least = max(least, certificate.least)
                to = max(certificate.inner_radius(goal), inner)
                if to < reached:
                    reached, proof = to, certificate
                if reached <= max(radius * _NEAR, inner):
                    break
            if not watch.goes_on():
                break
        return Attempt(reached, least, state, proof)

    def scale(self, state: State, share: float) -> State:
        """The state at a radius that is this share of the last one."""
        if state.matrix is None:
            return state
        by = share**self.degrees
        return replace(state, matrix=state.matrix * by[:, None] * by)


class _SphereSum:
    """The sum on one sphere, for one threshold."""

    def __init__(self, spheres: Spheres, radius: float, threshold: float) -> None:
        rows = spheres.rows
        self.spheres, self.radius = spheres, radius
        self.t = threshold + rows.credit
        reach = rows.length * radius * (1 + 1e-12)
        self.off = rows.error[0] + rows.error[1] * radius
        size, root = np.abs(rows.r), np.sqrt(np.maximum(self.t, 0))
        self.open: Mask = (size - reach - self.off < root * (1 + 1e-12)) & (self.t > 0)
        self._pairs, self._z = spheres.pairs[self.open], rows.z[self.open]
        self._r, self._reach = rows.r[self.open], reach[self.open]
        flat = ~self.open
        self.constant = float(self.t[flat].sum() - rows.credit.sum()) - rows.gone * threshold
        self._largest = float(np.maximum(self.t, 0).sum())
        self._size = (
            float(np.sum((size + reach)[self.open] ** 2)) + self._largest
            + float(np.abs(self.t[flat]).sum()) + rows.gone * abs(threshold) + rows.credit_size
        )  # fmt: skip

    def improve(self, state: State) -> State:
        """Quartics for the moments, averaged with those before, and some steps of ADMM."""
        fresh = self._quartics(state.moments)
        if state.quartics is None:
            quartics = fresh
        else:
            step = max(2 / (state.count + 2), 0.15)
            quartics = (1 - step) * state.quartics + step * fresh
        forms = self.spheres.forms
        whole = self._form(quartics)
        goal, _ = forms.project(whole)
        matrix = whole if state.matrix is None else state.matrix
        multiplier = np.zeros_like(whole) if state.multiplier is None else state.multiplier
        penalty = state.penalty or 1 / float(np.ptp(np.linalg.eigvalsh(matrix)))
        for _ in range(_STEPS):
            values, vectors = np.linalg.eigh(matrix - multiplier)
            excess = _largest_cut(values, 1 / penalty)
            most = vectors[:, len(values) - len(excess) :] * np.sqrt(excess)
            cut = most @ most.T
            before = matrix, multiplier
            matrix = matrix - cut
            multiplier = forms.project(matrix)[0] - goal
            matrix = matrix - multiplier
        by = _penalty_change(before, (matrix, multiplier))
        moments = forms.symmetrise(cut * penalty)
        step = max(2 / (state.count + 2), 0.25)
        return State(
            state.threshold, (1 - step) * state.moments + step * moments, matrix,
            multiplier / by, quartics, state.count + 1, penalty * by,
        )  # fmt: skip

    def _quartics(self, moments: Floats) -> Floats:
        q, z, pairs = self.spheres.q, self._z, self._pairs
        one, two = math.sqrt(2.0) * self.radius, 2 * self.radius**2
        of_row = np.zeros((4, len(z)))
        of_row[0] = z @ moments[1 : q + 1, 0] * (2 * one)
        of_row[1] = np.sum((z @ moments[1 : q + 1, 1 : q + 1]) * z, axis=1) * one**2
        of_row[2] = np.sum((pairs @ moments[q + 1 :, 1 : q + 1]) * z, axis=1) * (one * two)
        of_row[3] = np.sum((pairs @ moments[q + 1 :, q + 1 :]) * pairs, axis=1) * two**2
        out = np.zeros((len(self.t), 6))
        out[self.open] = _core.choose_majorants(self._r, self.t[self.open], self._reach, of_row)
        return out

    def _form(self, quartics: Floats) -> Floats:
        """H: minus the constant, the squares of open rows and what the quartics take off them."""
        q, z, pairs, r, c = self.spheres.q, self._z, self._pairs, self._r, quartics[self.open]
        one, two = math.sqrt(2.0) * self.radius, 2 * self.radius**2
        out = np.zeros((self.spheres.forms.dimension,) * 2)
        root = pairs * np.sqrt(c[:, 4:5])
        out[q + 1 :, q + 1 :] = (root.T @ root) * two**2
        out[q + 1 :, 1 : q + 1] = (pairs.T @ (z * (0.5 * c[:, 3:4]))) * (one * two)
        out[1 : q + 1, q + 1 :] = out[q + 1 :, 1 : q + 1].T
        middle = (z.T @ (z * (c[:, 2:3] - 1))) * one**2
        out[1 : q + 1, 1 : q + 1] = 0.5 * (middle + middle.T)
        out[0, 1 : q + 1] = out[1 : q + 1, 0] = ((0.5 * c[:, 1] + r) @ z) * (2 * one)
        out[0, 0] = 4 * (float(np.sum(c[:, 0] - r * r)) - self.constant)
        return out

    def certify(self, state: State) -> Certificate:
        """What the quartics and X prove, whatever they are, with all rounding."""
        assert state.matrix is not None
        assert state.quartics is not None
        forms, n, q = self.spheres.forms, len(self.t), self.spheres.q
        whole, matrix = self._form(state.quartics), 0.5 * (state.matrix + state.matrix.T)
        rest, form = forms.project(whole - matrix)
        multiple = np.zeros((q + 1, q + 1))
        i, j = np.triu_indices(q + 1)
        multiple[i, j] = multiple[j, i] = form / np.where(i == j, 1.0, math.sqrt(2.0))
        size = float(np.linalg.norm(matrix)) + float(np.linalg.norm(form))
        size += float(np.linalg.norm(whole))
        off = self.off[self.open]
        error = (
            float(np.linalg.norm(rest)) + 50 * len(rest) * UNIT * size
            + 8 * (n + 20 * q + 100) * UNIT * (self._size + float(state.quartics[:, 5].sum()))
            + 2 * float(np.linalg.norm(off)) * math.sqrt(self._largest)
        )  # fmt: skip
        return Certificate(
            self.radius,
            float(np.linalg.eigvalsh(matrix)[-1]),
            float(np.linalg.eigvalsh(multiple)[-1]),
            error,
            state.threshold,
        )


def _penalty_change(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> float:
    """By how much the penalty grows or falls, so that both residuals of ADMM fall together."""
    matrix, multiplier = (float(np.linalg.norm(one)) for one in after)
    moved, turned = (
        float(np.linalg.norm(new - old)) for new, old in zip(after, before, strict=True)
    )
    primal, dual = turned * multiplier, moved * matrix  # both times the two sizes
    return _CHANGE if primal > _APART * dual else 1 / _CHANGE if dual > _APART * primal else 1.0


def _largest_cut(values: Floats, total: float) -> Floats:
    """By how much the largest are above the level above which they sum to that total."""
    sums = np.cumsum(values[::-1])
    levels = (sums - total) / np.arange(1, len(values) + 1)
    count = int(np.flatnonzero(levels <= values[::-1])[-1]) + 1
    return np.asarray(values[len(values) - count :] - levels[count - 1])
