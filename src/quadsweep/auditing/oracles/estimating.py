"""Boxes of coefficients (``_core/estimating/``): robust and clustered standard errors, other links.

HC0 and HC1, and clusters none of which is removed in part, for a term with a few controls. The
numbers of rows and clusters kept enter the test by its threshold tau = t* sqrt(f): of all numbers
in question the one is taken that makes the claim easiest to break.

Columns are combined as they are, times the roots of the weights: orthogonal controls, and x and y
orthogonal to them, all of mean square one. No t statistic changes by that but for rounding, and
what each entry's rounding is relative to is handed over with it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.robust import RobustProblem, nested
from quadsweep.auditing.likelihood import LikelihoodProblem, mean, potential, variance
from quadsweep.auditing.oracles import UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.refits import settled
from quadsweep.auditing.resources import Resources
from quadsweep.clock import Stopped

MOST_LINKED = 5  # columns besides the term of a logistic or Poisson regression
_ROUNDED = 64.0  # roundings in a column of an orthonormal basis
MOST_CONTROLS = 4  # columns besides the term, the intercept included
_AT_ONCE = 2  # boxes of a bound that costs little
_SLACK = 1e-12  # of a threshold, for its rounding
_RADII = 0.02, 5.0, 60  # of cubes that are tried, the first and the last, and how many
_WIDER = 1.2, 1.5, 2.0  # than where some directions stop rising
_DIRECTIONS = 60
_CELLS = 2_000  # of a cube's surface
_CLEARLY = 1e-7  # lower, of the sizes of all rows


class Boxes(Oracle):
    """What boxes of coefficients find out about removals of some numbers of units."""

    is_search = True

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return self._ask(fewest, most, math.inf, _AT_ONCE).refuted

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        return self._ask(fewest, most, patience)

    @abstractmethod
    def _ask(
        self, fewest: int, most: int, patience: float, most_boxes: float = math.inf
    ) -> Decision:
        """Decide by so many boxes."""

    def _search(self, boxes: Any, *columns: Any, patience: float, **asked: Any) -> Decision:
        """Decide in the time for a question, or raise OutOfPatience."""
        resources = self.resources
        resources.check()
        found = boxes(
            *columns, **asked, n_jobs=resources.n_jobs, memory_limit=resources.memory_limit,
            time_limit=resources.within(patience), progress=resources.count,
        )  # fmt: skip
        resources.nodes += int(found["count"])
        try:
            return settled(self.problem, found)
        except Stopped as stop:
            raise resources.stopped(stop.status) from None


class RobustBoxes(Boxes):
    """Of tests with robust or clustered standard errors."""

    problem: RobustProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._design = problem.moments.design

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        if (
            not isinstance(problem, RobustProblem)
            or problem.stage is not None
            or not problem.test.usable
        ):
            return False
        design = problem.moments.design
        if (
            not problem.test.usable
            or not 1 <= design.q <= MOST_CONTROLS
            or design.q != problem.moments.rank
            or design.fixed
        ):
            return False
        if design.classes is not None:
            return False
        if problem.errors.kind == "cluster":
            return len(problem.errors.clusters) == 1 and nested(
                problem.errors.clusters[0], design.unit
            )
        return problem.errors.kind in ("HC0", "HC1")

    def _ask(
        self, fewest: int, most: int, patience: float, most_boxes: float = math.inf
    ) -> Decision:
        tau = self._tau(fewest, most)
        if not math.isfinite(tau):
            return UNDECIDED
        try:
            columns = self._columns
        except np.linalg.LinAlgError:  # of columns hundreds of powers of ten apart
            return UNDECIDED
        return self._search(
            _core.decide_robust, self.problem.test.core, *columns,
            *self._scores, tau=tau, fewest=fewest, most=most, most_boxes=most_boxes,
            patience=patience,
        )  # fmt: skip

    @cached_property
    def _columns(self) -> tuple[Floats, Floats]:
        """Orthogonal columns of mean square one, and the sums of the sizes of their terms."""
        order = self.problem.test.rows
        x, y, z = (v[order] for v in self._design.scaled)
        root = math.sqrt(len(x))
        turn = np.linalg.inv(np.linalg.qr(z / np.linalg.norm(z, axis=0), mode="r"))
        turn = root * turn / np.linalg.norm(z, axis=0)[:, None]
        columns, sizes = [z @ turn], [np.abs(z) @ np.abs(turn)]
        for v in (x, y):
            by = np.linalg.lstsq(z, v, rcond=None)[0]
            left = v - z @ by
            scale = root / float(np.linalg.norm(left))
            columns.append((scale * left)[:, None])
            sizes.append((scale * (np.abs(v) + np.abs(z) @ np.abs(by)))[:, None])
        return np.ascontiguousarray(np.hstack(columns)), np.ascontiguousarray(np.hstack(sizes))

    @cached_property
    def _scores(self) -> tuple[list[int], list[int]]:
        """Where the rows of each score begin, and the scores of each unit."""
        test = self.problem.test
        if self.problem.errors.kind != "cluster":
            return list(range(self._design.n + 1)), test.first.tolist()
        label = self.problem.errors.clusters[0][test.rows]
        begin = np.concatenate([[0], np.flatnonzero(np.diff(label)) + 1, [len(label)]])
        return begin.tolist(), np.searchsorted(begin, test.first).tolist()

    @cached_property
    def _sizes(self) -> tuple[Ints, Ints]:
        """Rows and clusters of each unit, in ascending order."""
        rows, (_, items) = np.diff(self.problem.test.first), self._scores
        return np.sort(rows), np.sort(np.diff(items))

    def _tau(self, fewest: int, most: int) -> float:
        """The threshold that the largest, or smallest, factor and critical value make."""
        errors, design = self.problem.errors, self._design
        rows, clusters = self._sizes
        loosest = max if self.problem.test.side == 0 else min
        taus = []
        for m in range(fewest, most + 1):
            # Factors and critical values fall with every row and cluster kept.
            for gone_rows, gone_clusters in ((rows[-m:], clusters[-m:]), (rows[:m], clusters[:m])):
                k, g = design.n - int(gone_rows.sum()), int(clusters.sum() - gone_clusters.sum())
                taus.append(self._threshold(k, g, errors.kind == "cluster"))
        slack = 1e-7 if errors.normal else _SLACK
        return loosest(taus) * (1 + (slack if loosest is max else -slack))

    def _threshold(self, k: int, g: int, clustered: bool) -> float:
        errors, left = self.problem.errors, k - self._design.q - 1
        freedom = g - 1 if clustered and errors.cluster_freedom else left
        if left < 1 or freedom < 1 or (clustered and g < 2):
            return math.inf if self.problem.test.side == 0 else 0.0
        factor = ((k - 1) / left if clustered else k / left) if errors.k_adj else 1.0
        if clustered and errors.g_adj:
            factor *= g / (g - 1)
        return float(self.problem.test.critical[freedom]) * math.sqrt(factor)


class LinkBoxes(Boxes):
    """The sign of a coefficient of a logistic or Poisson regression.

    Coefficients are measured from the fit without the term on all rows, in a basis in which its
    curvature is n times the identity. A log-likelihood is concave: where that of the rows kept is
    lower all over the surface of a cube than at its centre, their fit exists and lies in the cube.
    """

    problem: LikelihoodProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._radii: dict[int, float | None] = {}
        self._levels = sorted({math.ceil(1.25**i) for i in range(100)})

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        if not isinstance(problem, LikelihoodProblem) or not problem.test.sign_alone:
            return False
        return 1 <= problem.test.z.shape[1] <= MOST_LINKED and problem.test.start is not None

    def _ask(
        self, fewest: int, most: int, patience: float, most_boxes: float = math.inf
    ) -> Decision:
        # A cube for some more removals serves as well: one that is known, if it is not much larger.
        level = next(m for m in self._levels if m >= most)
        level = min([m for m in self._radii if level <= m < 2 * level], default=level)
        if level not in self._radii:
            self._radii[level] = self._radius(level)
        radius = self._radii[level]
        if radius is None:
            return UNDECIDED
        test, (columns, sizes) = self.problem.test, self._columns
        return self._search(
            _core.decide_likelihood, test.core, columns, sizes,
            radius=radius, fewest=fewest, most=most, most_boxes=most_boxes,
            patience=patience,
        )  # fmt: skip

    @cached_property
    def _columns(self) -> tuple[Floats, Floats]:
        """Controls, term and linear predictor, and the sums of the sizes of their terms."""
        test = self.problem.test
        z = test.z[test.rows]
        eta = z @ test.start
        curve = test.weights[test.rows] * variance(test.design.link, mean(test.design.link, eta))
        gram = (z * curve[:, None]).T @ z
        turn = np.linalg.inv(np.linalg.cholesky(gram)).T * math.sqrt(len(z))
        columns = np.column_stack([z @ turn, test.x[test.rows], eta])
        # The basis and what it leaves of the term are combinations of the columns as given.
        sizes = _ROUNDED * np.column_stack(
            [np.abs(z) @ np.abs(turn), np.abs(test.x[test.rows]), np.abs(z) @ np.abs(test.start)]
        )
        sizes += _ROUNDED * np.abs(columns).mean(axis=0)
        return np.ascontiguousarray(columns), np.ascontiguousarray(sizes)

    def _radius(self, most: int) -> float | None:
        """Half the side of a cube that holds the fits to all rows but at most so many units."""
        test = self.problem.test
        if most >= len(test.first) - 1:
            return None
        q = test.z.shape[1]
        some = np.random.default_rng(0).normal(size=(_DIRECTIONS, q))
        some = np.vstack([some, np.eye(q), -np.eye(q)])
        some /= np.abs(some).max(axis=1)[:, None]
        here = np.zeros((1, q))
        for radius in np.geomspace(*_RADII):
            if bool((self._rise(radius * some, here, most) < 0).all()):
                for times in _WIDER:
                    if self._holds(times * radius, most):
                        return float(times * radius)
                return None
        return None

    def _rise(self, at: Floats, steps: Floats, most: int) -> Floats:
        """No less than how far the log-likelihood of any rows kept, at most so many units removed,
        is above that at the origin, at any of the steps from each point; by its tangent there."""
        test, columns = self.problem.test, self._columns[0]
        z, eta, w = columns[:, :-2], columns[:, -1], test.weights[test.rows]
        y, link = test.design.y[test.rows], test.design.link
        moved = at @ z.T
        with np.errstate(over="ignore", invalid="ignore"):
            value = w * (y * moved - potential(link, eta + moved) + self._potential)
            slope = w * (y - mean(link, eta + moved))
            each = value[:, None] + slope[:, None] * (steps @ z.T)
            units = self._of_units(each)
            # For every t of at most zero, what the lowest take off is no more than this; near the
            # lowest m of the point itself it is no more by much.
            here = self._of_units(value)
            t = np.minimum(np.partition(here, most - 1, axis=1)[:, most - 1], 0.0)[:, None]
            rise = units.sum(axis=2) + np.maximum(t[..., None] - units, 0).sum(axis=2) - most * t
            return np.asarray((rise + _CLEARLY * np.abs(each).sum(axis=2)).max(axis=1))

    @cached_property
    def _potential(self) -> Floats:
        return potential(self.problem.test.design.link, self._columns[0][:, -1])

    def _of_units(self, rows: Floats) -> Floats:
        """Sums over the rows of each unit, along the last axis."""
        first = self.problem.test.first
        single = len(first) - 1 == rows.shape[-1]
        return rows if single else np.add.reduceat(rows, first[:-1], axis=-1)

    def _holds(self, radius: float, most: int) -> bool:
        """Whether the log-likelihood is lower than at the origin all over the cube's surface.

        On a cell of a face the tangents at its centre are largest at a corner; cells on which that
        is not enough are halved.
        """
        q, looked = self.problem.test.z.shape[1], 0
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * q)).reshape(q, -1).T
        faces = [(side * radius * np.eye(q)[j], j) for j in range(q) for side in (-1, 1)]
        cells = [(at, np.where(np.arange(q) == j, 0.0, radius)) for at, j in faces]
        while cells:
            self.resources.check()
            looked += 1
            at, half = cells.pop()
            steps = half * corners[(corners[:, half == 0] > 0).all(axis=1)]
            if bool(self._rise(at[None], steps, most)[0] < 0):
                continue
            if looked > _CELLS or not self._rise(at[None], np.zeros((1, q)), most)[0] < 0:
                return False
            j = int(np.argmax(half))
            step = np.where(np.arange(q) == j, half / 2, 0.0)
            cells += [(at - step, half - step), (at + step, half - step)]
        return True
