"""The t statistic of a coefficient in rational arithmetic, for removals that rounding leaves open.

Every double is a whole number times a power of two, and a t statistic does not change when a column
is multiplied by a number: so columns and weights are taken as whole numbers. The square of t is
then a fraction, for all standard errors. A control of which nothing is left by those before it
drops out, as in ``moments``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.standard_errors import KNOWN
from quadsweep.rational import eliminate, gram_matrix, solved, whole_numbers

Row = Sequence[Any]


@dataclass(frozen=True)
class ExactTest:
    """A t statistic: its sign, its square and its degrees of freedom."""

    sign: int
    square: Fraction
    freedom: int


class ExactTests:
    """t statistics of a coefficient on any rows; of two-stage least squares with an instrument."""

    def __init__(
        self,
        controls: Floats,
        x: Floats,
        y: Floats,
        *,
        instrument: Floats | None = None,
        weights: Floats | None = None,
        fixed: int = 0,
    ) -> None:
        pairs = [whole_numbers(np.ascontiguousarray(c)) for c in (*controls.T, x, y)]
        self._z, self._x, self._y = [v for v, _ in pairs[:-2]], pairs[-2][0], pairs[-1][0]
        self._unit = 2 * pairs[-1][1]  # the power of two in the square of y, and in the weights
        self._s = self._x
        if instrument is not None:
            self._s = whole_numbers(np.ascontiguousarray(instrument))[0]
        self._w = [1] * len(x)
        if weights is not None:
            self._w, shift = whole_numbers(weights)
            self._unit += shift
        self._fixed = fixed

    def test(self, kept: Ints, errors: Any) -> ExactTest | None:
        """Of the regression on some rows; None where it has no coefficient or no standard error."""
        fit = _Fit(
            [[c[i] for i in kept] for c in self._z],
            *([c[i] for i in kept] for c in (self._s, self._x, self._y, self._w)),
        )
        k, parameters = len(kept), fit.rank + 1 + self._fixed
        if fit.slope is None or k - parameters < 1:
            return None
        freedom, variance = _variance(fit, errors, kept, k, parameters)
        if errors.kind == KNOWN:
            variance = fit.uu * Fraction(2) ** -self._unit
        if freedom < 1 or variance <= 0:
            return None
        found = fit.sy
        sign = (found > 0) - (found < 0)
        return ExactTest(sign if fit.sx > 0 else -sign, found**2 / variance, freedom)


class _Fit:
    """s, x and y less what the controls explain; the coefficient and the residuals."""

    def __init__(self, z: list[Row], s: Row, x: Row, y: Row, w: Row) -> None:
        self.w = w
        gram = gram_matrix(z, w)
        chosen, _ = eliminate([row[:] for row in gram], len(z))
        self._z = [z[j] for j in chosen]
        self._inverse = solved(
            [[gram[i][j] for j in chosen] + [int(i == j) for j in chosen] for i in chosen]
        )
        self.rank = len(chosen)
        self.u = self._leave(s)
        right, left = (self.u if x is s else self._leave(x)), self._leave(y)
        self.uu = _dot(self.u, self.u, w)
        self.sx, self.sy = _dot(self.u, right, w), _dot(self.u, left, w)
        self.slope: Fraction | None = None
        if self.sx != 0:
            self.slope = self.sy / self.sx
            self.e = [b - self.slope * a for a, b in zip(right, left, strict=True)]

    def _leave(self, column: Row) -> list[Fraction]:
        along = [_dot(c, column, self.w) for c in self._z]
        by = [_total(p * q for p, q in zip(r, along, strict=True)) for r in self._inverse]
        return [
            value - _total(b * c[i] for b, c in zip(by, self._z, strict=True))
            for i, value in enumerate(column)
        ]

    @cached_property
    def residual_leverages(self) -> list[Fraction]:
        """One less the leverage of each row."""
        out = []
        for i, w in enumerate(self.w):
            row = [c[i] for c in self._z]
            h = _total(
                a * b * c
                for a, r in zip(row, self._inverse, strict=True)
                for b, c in zip(r, row, strict=True)
            )
            out.append(1 - w * (h + self.u[i] ** 2 / self.uu))
        return out


def _total(values: Iterable[Any]) -> Fraction:
    return sum(values, Fraction(0))


def _dot(a: Row, b: Row, w: Row) -> Any:
    return sum(p * q * r for p, q, r in zip(a, b, w, strict=True))


def _variance(fit: _Fit, errors: Any, kept: Ints, k: int, parameters: int) -> tuple[int, Fraction]:
    """Degrees of freedom, and the variance of the coefficient times (u.x)^2."""
    freedom = k - parameters
    if errors.kind == "classical":
        over = freedom if errors.k_adj else k - 1
        return freedom, _dot(fit.e, fit.e, fit.w) / over * fit.uu
    score = [w * u * e for w, u, e in zip(fit.w, fit.u, fit.e, strict=True)]
    if errors.kind == "cluster":
        return _clustered(score, errors, kept, k, freedom)
    power = {"HC2": 1, "HC3": 2}.get(errors.kind, 0)
    squares = [v * v for v in score]
    if power:
        squares = [v / h**power for v, h in zip(squares, fit.residual_leverages, strict=True) if h]
    return freedom, _total(squares) * (Fraction(k, freedom) if errors.k_adj else 1)


def _clustered(
    score: list[Fraction], errors: Any, kept: Ints, k: int, freedom: int
) -> tuple[int, Fraction]:
    ways = [labels[kept].tolist() for labels in errors.clusters]
    if len(ways) == 2:
        ways.append(list(zip(*ways, strict=True)))
    sums: list[dict[Any, Fraction]] = [{} for _ in ways]
    for way, total in zip(ways, sums, strict=True):
        for label, v in zip(way, score, strict=True):
            total[label] = total.get(label, Fraction(0)) + v
    fewest = min(len(total) for total in sums)
    if fewest < 2:
        return 0, Fraction(0)
    variance = Fraction(0)
    for total, sign in zip(sums, (1, 1, -1), strict=False):
        g = fewest if errors.g_min else len(total)
        part = _total(v * v for v in total.values())
        variance += sign * part * (Fraction(g, g - 1) if errors.g_adj else 1)
    if errors.k_adj:
        variance *= Fraction(k - 1, freedom)
    return (fewest - 1 if errors.cluster_freedom else freedom), variance
