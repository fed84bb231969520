"""Where the search for counterexamples starts: points alternating on the gradient hyperbola.

In coordinates from the mean of the inliers, the first-order gain from a point is, up to a factor,

    p^2 (1 - r) - q^2 (1 + r)

with p = (u + w) / sqrt 2, q = (u - w) / sqrt 2 and standardised u, w for r2 and r, the same with
r = 0 for cov, and p = u, q = w, r = 0 for dv. Points alternately in and out on one branch of a
level set all gain the same, and no plane of the lift parts them. The other inliers gain more, the
other outliers less, and the inliers' places make the mean (for r2 and r also a, b and c) what the
formula says. With too few inliers off the branch for that, they are put anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Mask

ALTERNATING = {"L2": 4, "L3c": 4, "L3d": 4, "L3t": 4, "L4": 6, "L5": 6}
_NEWTON_STEPS = 30
_SPREAD = 1.5  # of the places first given to the points off the branch
_GAPS = -3.0, 1.5  # logarithms of the least and largest step along the branch


@dataclass(frozen=True)
class Plan:
    """Which points do what: ``alternating`` ones first, then the other inliers and outliers.

    A configuration is a row of numbers: the branch's middle, the logarithms of the steps along it,
    the four numbers of the hyperbola, and x and y of all others.
    """

    objective: str
    lift: str
    n: int
    k: int

    @property
    def alternating(self) -> int:
        return ALTERNATING[self.lift]

    @property
    def others(self) -> int:
        return self.n - self.alternating

    @property
    def inliers(self) -> Mask:
        half = self.alternating // 2
        place = np.arange(self.n)
        on_branch = (place < self.alternating) & (place % 2 == 0)
        return np.asarray(
            on_branch | ((place >= self.alternating) & (place < self.alternating + self.k - half))
        )

    @property
    def possible(self) -> bool:
        half = self.alternating // 2
        return half <= self.k <= self.n - half

    @property
    def free(self) -> Mask:
        """Numbers of a configuration that may change: not the shape that the lift prescribes."""
        moving = np.ones(self.alternating + 4 + 2 * self.others, dtype=bool)
        if self.lift == "L3c":
            moving[self.alternating : self.alternating + 4] = (True, False, False, True)
        elif self.lift in ("L3d", "L4"):
            moving[self.alternating : self.alternating + 4] = False
        return moving

    def points(self, rows: Floats) -> tuple[Floats, Floats]:
        """x and y, each T by n, of T configurations."""
        b, m = self.alternating, self.others
        steps = np.exp(np.clip(rows[:, 1:b], *_GAPS))
        t = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(steps, axis=1)], axis=1)
        t = np.clip(t - t.mean(axis=1, keepdims=True) + rows[:, :1], -6.0, 6.0)
        up, down = np.exp(t), np.exp(-t)
        h = rows[:, b : b + 4, None]
        x = np.concatenate([h[:, 0] * up + h[:, 1] * down, rows[:, b + 4 : b + 4 + m]], axis=1)
        y = np.concatenate([h[:, 2] * up + h[:, 3] * down, rows[:, b + 4 + m :]], axis=1)
        return x, y


def start(plan: Plan, rng: np.random.Generator) -> Floats | None:
    """One configuration on a gradient hyperbola, or None if this draw led to none."""
    r = _correlation(plan.objective, rng)
    level = math.copysign(math.exp(rng.normal()), -1.0 if rng.random() < 0.8 else 1.0)
    hyperbola = _hyperbola(plan.objective, r, level)
    steps = rng.uniform(0.1, 0.6, size=plan.alternating - 1)
    head = np.concatenate([[0.3 * rng.normal()], np.log(steps), hyperbola])
    row = np.concatenate([head, np.zeros(2 * plan.others)])
    x, y = (v[0] for v in plan.points(row[None]))
    alternate = slice(0, plan.alternating, 2)
    inner = plan.k - plan.alternating // 2
    if 2 * inner <= _conditions(plan.objective):
        u, w = _SPREAD * rng.normal(size=(2, inner))
    else:
        placed = _balance(plan, r, x[alternate], y[alternate], inner, rng)
        if placed is None or np.any(_gain(plan.objective, r, *placed) < level + 0.02 * abs(level)):
            return None
        u, w = placed
    away = _far_points(plan, r, level, plan.others - inner, rng)
    row[len(head) :] = np.concatenate([u, away[0], w, away[1]])
    return row


def _correlation(objective: str, rng: np.random.Generator) -> float:
    if objective == "r2":
        return float(rng.uniform(0.1, 0.7))
    return float(rng.uniform(-0.9, 0.9)) if objective == "r" else 0.0


def _conditions(objective: str) -> int:
    """How many moments of the inliers the formula of the gain assumes."""
    return 5 if objective in ("r2", "r") else 2


def _gain(objective: str, r: float, u: Floats, w: Floats) -> Floats:
    if objective == "dv":
        return u * u - w * w
    return 2 * u * w - r * (u * u + w * w)


def _hyperbola(objective: str, r: float, level: float) -> Floats:
    """Coefficients of x = h0 e^t + h1 e^-t, y = h2 e^t + h3 e^-t on gain = level."""
    long, short = math.sqrt(abs(level) / (1 - r)) / 2, math.sqrt(abs(level) / (1 + r)) / 2
    p, q = ((long, long), (short, -short)) if level > 0 else ((long, -long), (short, short))
    if objective == "dv":
        return np.array([*p, *q])
    s = math.sqrt(0.5)
    h = np.array([p[0] + q[0], p[1] + q[1], p[0] - q[0], p[1] - q[1]]) * s
    return np.where(np.abs(h) < 1e-12, 0.0, h)


def _balance(
    plan: Plan, r: float, u: Floats, w: Floats, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats] | None:
    """Places of the inliers off the branch that give all inliers the moments assumed."""
    k = plan.k
    needed = -np.array([u.sum(), w.sum(), u @ u - k, u @ w - r * k, w @ w - k])
    conditions = _conditions(plan.objective)
    if conditions == 5 and not _attainable(needed, count):
        return None
    z = _SPREAD * rng.normal(size=2 * count)
    for _ in range(_NEWTON_STEPS):
        a, b = z[:count], z[count:]
        excess = np.array([a.sum(), b.sum(), a @ a, a @ b, b @ b]) - needed
        if np.abs(excess[:conditions]).max() < 1e-9:
            return a, b
        one, none = np.ones(count), np.zeros(count)
        jacobian = np.block([[one, none], [none, one], [2 * a, none], [b, a], [none, 2 * b]])
        used = jacobian[:conditions]
        ridge = 1e-12 * np.eye(conditions)
        step = -used.T @ np.linalg.solve(used @ used.T + ridge, excess[:conditions])
        z = z + step * min(1.0, 1.0 / max(np.abs(step).max(), 1e-300))
    return None


def _attainable(needed: Floats, count: int) -> bool:
    """Whether ``count`` points can have these sums: their centred squares must be positive."""
    sx, sy, sxx, sxy, syy = needed
    a, b, c = sxx - sx * sx / count, syy - sy * sy / count, sxy - sx * sy / count
    return bool(a > 0 and b > 0 and a * b > c * c)


def _far_points(
    plan: Plan, r: float, level: float, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Places of the outliers off the branch, where the gain is well below the level."""
    u, w = _SPREAD * rng.normal(size=(2, 40 * count + 40))
    low = np.flatnonzero(_gain(plan.objective, r, u, w) < level - 0.2 * abs(level))[:count]
    if len(low) < count:
        low = np.argsort(_gain(plan.objective, r, u, w))[:count]
    return u[low], w[low]
