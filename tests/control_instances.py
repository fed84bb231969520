"""Seeded regressions to audit: controls with dummies and copies among them, groups, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from naive_controls import Regression

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.reading import without_dependent
from quadsweep.auditing.design import Design

CLAIMS = ("sign", "significance", "reverse", "r2", "slope")


@dataclass(frozen=True)
class Instance:
    x: Floats
    y: Floats
    controls: Floats  # without the intercept
    groups: Ints | None
    weights: Floats | None
    arguments: dict[str, Any]

    @property
    def keywords(self) -> dict[str, Any]:
        """For an audit."""
        return {
            "controls": self.controls, "groups": self.groups, "weights": self.weights,
            **self.arguments,
        }  # fmt: skip

    @property
    def regression(self) -> Regression:
        """For the slow twin, without controls that the others explain on all rows up to 1e-12."""
        n = len(self.x)
        z = np.column_stack([np.ones(n), self.controls])
        names = tuple(f"z{j}" for j in range(z.shape[1]))
        given = Design(self.x, self.y, z, 0, self.weights, np.arange(n), None, names=names)
        return Regression(
            self.x.tolist(), self.y.tolist(), without_dependent(given).controls.T.tolist(), True,
            None if self.weights is None else self.weights.tolist(),
            list(range(n)) if self.groups is None else self.groups.tolist(),
        )  # fmt: skip


def instance(
    seed: int, claim: str, sizes: tuple[int, int], controls: tuple[int, int]
) -> Instance | None:
    """The question of that number; None where the data have no coefficient to ask about."""
    rng = np.random.default_rng([seed, CLAIMS.index(claim)])
    n = int(rng.integers(sizes[0], sizes[1] + 1))
    q = int(rng.integers(controls[0], controls[1] + 1))
    x, y, z = _columns(rng, n, q)
    if rng.uniform() < 0.3:  # copies of rows
        copies = rng.integers(0, n, size=(2, max(1, n // 4)))
        for column in (x, y, z):
            column[copies[0]] = column[copies[1]]
    groups = rng.integers(0, max(4, n // 2), size=n) if rng.uniform() < 0.35 else None
    weights = rng.choice([0.5, 1.0, 2.0, 3.0], size=n) if rng.uniform() < 0.35 else None
    found = _slope(x, y, z, weights)
    if found is None or (groups is not None and len(np.unique(groups)) < 2):
        return None
    slope, r2 = found
    arguments: dict[str, Any] = {"claim": claim, "level": float(rng.choice([0.01, 0.05, 0.2, 0.5]))}
    if claim == "r2":
        t = float(np.clip(r2 + rng.uniform(-0.4, 0.4), 0.01, 0.99))
        arguments["threshold"] = t
    if claim == "slope":
        width = abs(slope) * rng.uniform(0.1, 1.5)
        ends = [(slope - width, slope + width), (-np.inf, slope + width), (slope - width, np.inf)]
        arguments["threshold"] = ends[int(rng.integers(3))]
    return Instance(x, y, z, groups, weights, arguments)


def nearly_dependent(seed: int, claim: str) -> Instance:
    """Controls, or the term and a control, that differ by 1e-6 to 1e-13 of themselves."""
    rng = np.random.default_rng([77, seed, CLAIMS.index(claim)])
    n, q = int(rng.integers(7, 10)), int(rng.integers(1, 4))
    near = 10.0 ** -rng.integers(6, 14)
    z = rng.normal(size=(n, q)) * 10.0 ** rng.integers(-1, 3)
    if rng.uniform() < 0.5:
        z[:, 0] += 10.0 ** rng.integers(0, 5)
    how = int(rng.integers(4))
    x = rng.normal(size=n)
    y = rng.normal(size=n) + rng.normal() * x
    if q > 1 and how in (0, 3):
        z[:, 1] = z[:, 0] + near * z[:, 1]
    if how in (1, 3):
        x = z[:, 0] * rng.normal() + near * x * np.abs(z[:, 0]).max()
    if how == 2:
        x, y = z[:, 0] + near * x, z[:, 0] * rng.normal() + near * y
    weights = rng.uniform(0.3, 3, size=n) if rng.uniform() < 0.5 else None
    level = float(rng.choice([0.05, 0.2, 0.5]))
    if rng.uniform() < 0.3:  # nearly dependent on the other rows only
        x[rng.integers(0, n, size=2)] += rng.normal(size=2)
    return Instance(x, y, z, None, weights, _asked(rng, claim, level, x, y, z, weights))


def hostile(seed: int, claim: str) -> Instance:
    """What rounding likes least: columns that depend on each other nearly, on all rows or on what
    is left when a few are gone; offsets and scales of many powers of ten; rare dummies, copies,
    weights and groups to match."""
    rng = np.random.default_rng([78, seed, CLAIMS.index(claim)])
    q = int(rng.integers(1, 5))
    n = int(rng.integers(q + 5, 12))
    z = np.column_stack([_control(rng, n) for _ in range(q)])
    x, y = rng.normal(size=(2, n))
    y += rng.normal() * x
    near = 10.0 ** -rng.integers(3, 14)
    far = rng.permutation(n)[: int(rng.integers(1, 3))]  # without these rows columns nearly depend
    kept = np.isin(np.arange(n), far, invert=rng.uniform() < 0.5)
    how = int(rng.integers(6))
    if how == 0 and q > 1:
        z[:, 1] = rng.normal() * z[:, 0] + near * rng.normal(size=n)
    elif how == 1 and q > 1:
        z[:, 1] = np.where(kept, z[:, 0] + near * rng.normal(size=n), z[:, 1])
    elif how == 2:
        x = z @ rng.normal(size=q) + near * x
    elif how == 3:
        x = np.where(kept, z @ rng.normal(size=q) + near * x, x)
    elif how == 4:
        y = np.where(kept, z @ rng.normal(size=q) + near * y, y)
    if rng.uniform() < 0.3:
        copies = rng.integers(0, n, size=(2, max(1, n // 3)))
        for column in (x, y, z):
            column[copies[0]] = column[copies[1]]
    for column in (x, y, *z.T):
        if rng.uniform() < 0.25:
            column *= 10.0 ** rng.integers(-9, 10)
        if rng.uniform() < 0.25:
            column += 10.0 ** rng.integers(0, 10) * rng.choice([-1, 1])
    weights = None
    if rng.uniform() < 0.4:
        weights = 10.0 ** rng.uniform(0, rng.choice([1, 4, 8, 12]), size=n)
    groups = None
    if rng.uniform() < 0.3:  # as a dummy's rows go together
        groups = np.unique(np.round(z[:, 0], 1), return_inverse=True)[1].astype(np.int64)
        if len(np.unique(groups)) < 4:
            groups = None
    level = float(rng.choice([0.05, 0.2, 0.5]))
    return Instance(x, y, z, groups, weights, _asked(rng, claim, level, x, y, z, weights))


def _control(rng: np.random.Generator, n: int) -> Floats:
    if rng.uniform() < 0.5:
        return rng.normal(size=n)
    dummy = np.zeros(n)
    dummy[rng.permutation(n)[: int(rng.integers(1, 4))]] = 1.0
    return dummy


def _asked(
    rng: np.random.Generator, claim: str, level: float, x: Floats, y: Floats, z: Floats,
    weights: Any,
) -> dict[str, Any]:  # fmt: skip
    """The claim, with a threshold around what least squares gives on all rows."""
    arguments: dict[str, Any] = {"claim": claim, "level": level}
    if claim == "r2":
        arguments["threshold"] = float(rng.uniform(0.1, 0.9))
    if claim == "slope":
        root = np.ones(len(x)) if weights is None else np.sqrt(weights)
        columns = root[:, None] * np.column_stack([np.ones(len(x)), z, x])
        slope = float(np.linalg.lstsq(columns, root * y, rcond=1e-15)[0][-1])
        width = abs(slope) * rng.uniform(0.1, 1.5)
        arguments["threshold"] = (slope - width, slope + width)
    return arguments


def _columns(rng: np.random.Generator, n: int, q: int) -> tuple[Floats, Floats, Floats]:
    kind = int(rng.integers(4))
    if kind == 0:  # whole numbers, with ties
        x, y = (rng.integers(-3, 4, size=n).astype(float) for _ in range(2))
    else:
        x = rng.normal(size=n)
        y = rng.normal(0, 1.5) * x + rng.normal(size=n)
    if kind == 2:  # far rows
        x[0], y[0] = 10.0, rng.normal(0, 20)
    columns: list[Floats] = []
    if q >= 5 and rng.uniform() < 0.5:  # dummies of a factor
        levels = rng.integers(0, int(rng.integers(3, q + 1)), size=n)
        columns = list((levels[:, None] == np.unique(levels)[1:]).astype(float).T)
    for _ in range(q - len(columns)):
        how = rng.uniform()
        if how < 0.4:
            columns.append((rng.uniform(size=n) < rng.uniform(0.1, 0.6)).astype(float))
        elif how < 0.5 and columns:
            columns.append(columns[-1] * rng.choice([1.0, -2.0]))  # a copy of a control
        elif kind == 0:
            columns.append(rng.integers(-2, 3, size=n).astype(float))
        else:
            columns.append(rng.normal(size=n) + rng.normal() * x)
    z = np.column_stack(columns) if columns else np.zeros((n, 0))
    y = y + z.sum(axis=1) * rng.normal() * (kind != 0)
    # Few digits, so that the slow twin's fractions stay short.
    return _rounded(x), _rounded(y), _rounded(z)


def _rounded(values: Floats) -> Floats:
    return np.asarray(np.rint(values * 512) / 512)


def _slope(x: Floats, y: Floats, z: Floats, weights: Any) -> tuple[float, float] | None:
    """Coefficient and R2 on all rows, None where they are not clear."""
    root = np.ones(len(x)) if weights is None else np.sqrt(weights)
    design = root[:, None] * np.column_stack([np.ones(len(x)), z])
    u, w = (v * root - design @ np.linalg.lstsq(design, v * root, rcond=None)[0] for v in (x, y))
    if u @ u < 1e-6 or w @ w < 1e-6 or abs(u @ w) < 1e-6:
        return None
    slope = float(u @ w / (u @ u))
    mean = float((root**2) @ y / (root**2).sum())
    total = float(((root * (y - mean)) ** 2).sum())
    return slope, 1 - float(((w - slope * u) ** 2).sum()) / total
