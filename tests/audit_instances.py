"""Seeded questions for the audit: a family of data, a claim, its parameters."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from families import FAMILIES
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLAIMS = ("sign", "significance", "reverse", "r2", "slope")
WHOLE = ("lattice", "on_a_conic", "collinear")


@dataclass(frozen=True)
class Instance:
    family: str
    x: Floats
    y: Floats
    arguments: dict[str, Any]


def instance(seed: int, claim: str, sizes: tuple[int, int]) -> Instance | None:
    """The question of that number, None where the data have no slope to ask about."""
    rng = np.random.default_rng([seed, zlib.crc32(claim.encode())])
    family = list(FAMILIES)[seed % len(FAMILIES)]
    x, y = FAMILIES[family](rng, int(rng.integers(sizes[0], sizes[1] + 1)))
    if rng.uniform() < 0.5:
        y = -y
    if np.ptp(x) == 0 or np.ptp(y) == 0 or abs(np.corrcoef(x, y)[0, 1]) < 1e-8:
        return None
    arguments: dict[str, Any] = {"claim": claim, "level": float(rng.choice([0.01, 0.05, 0.2, 0.5]))}
    if claim == "r2":
        arguments["threshold"] = float(rng.choice([0.0, 0.01, 0.1, 0.25, 0.5, 0.9, 1.0]))
    if claim == "slope":
        arguments["threshold"] = interval_about_the_slope(rng, x, y, whole=family in WHOLE)
    return Instance(family, x, y, arguments)


def interval_about_the_slope(
    rng: np.random.Generator, x: Floats, y: Floats, whole: bool
) -> tuple[float, float]:
    """Ends that lattices meet exactly, or any ends."""
    u = x - x.mean()
    slope = float(u @ (y - y.mean()) / (u @ u))
    if whole:
        return float(np.floor(slope)), float(np.ceil(slope))
    width = abs(slope) * rng.uniform(0, 1.5)
    low, high = slope - width, slope + width
    return [(low, high), (-np.inf, high), (low, np.inf)][rng.integers(3)]
