"""Fit the answer of a search again, independently, before it is reported.

One QR decomposition of the rows kept gives the value of every objective and the coefficients. If
there is an intercept, columns are centred near their medians. Rows are processed in blocks. Let R
be the triangle, with columns in the order intercept, predictors, y, and let v be the column of y
in R. Then

    RSS = v_last^2      TSS = sum of v_j^2 but for the intercept's      coef = R^-1 v.

Figures that double precision cannot determine from these columns are not compared.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.objectives import OBJECTIVES, Objective
from quadsweep.results.result import Result

AGREE = 1e-6  # relative: what two fits in double precision may differ by
_ROUNDED = 2.0**-44  # of a column's length: rounding in a triangle
_TELLING = 1e-6  # of a column's length: a smaller remainder has too few digits
_BLOCK = 4096  # rows of a block, which a cache holds
_SOME = 1000  # rows whose median is near that of the column
_MOST = 300_000  # with more rows the coefficients are not compared
_FINITE = 1e140  # the squares of smaller numbers do not overflow


def confirm(result: Result, trivial_bound: float) -> Result:
    """Return the result if a second fit agrees with it; otherwise a copy that claims nothing.

    The copy names the figure that differs; its status is heuristic and its bound is trivial.
    """
    goal = OBJECTIVES.get(result.objective)
    if goal is None or not math.isfinite(result.value):
        return result
    if not (difference := find_difference(result, goal)):
        return result
    bound = trivial_bound if goal.name in ("r2", "r") else math.inf * goal.sense
    remark = f"Fitted again to the rows kept, {difference}: nothing is claimed."
    gap = max(0.0, goal.sense * (bound - result.value))
    return replace(result, status="heuristic", bound=bound, gap=gap, remark=remark)


@np.errstate(all="ignore")
def find_difference(result: Result, goal: Objective) -> str:
    """Name the figure in which an independent fit differs from a result; "" if none does."""
    first = int(result.fit_intercept)
    r, lengths = _triangle(result)
    if not float(lengths.max()) < _FINITE:
        return ""
    size, v, errors = np.abs(np.diag(r)), r[first:, -1], _ROUNDED * lengths
    if np.any(size[:-1] <= _TELLING * lengths[:-1]) or np.any(lengths[:-1] < 1 / _FINITE):
        return ""  # collinear predictors, or columns far from zero
    coef = np.linalg.solve(r[:-1, :-1], r[:-1, -1])
    error, total = errors[-1] + np.abs(coef) @ errors[:-1], np.linalg.norm(v)
    left, a, k = abs(v[-1]), size[first], result.k
    if goal.name == "lts":
        value, unit = left * left, error * (2 * left + error)
    elif goal.name == "r2":
        value, unit = (v[:-1] @ v[:-1]) / total**2, 2 * error / total
    elif goal.name == "mcd":
        value = (a * left / k) ** 2
        unit = (2 * errors[first] * a * left**2 + error * (2 * left + error) * a**2) / k**2
    else:
        value = goal.of_sums(float(a * a), float(total**2), float(r[first, first] * v[0]), k)
        unit = 2 * (errors[first] + errors[-1]) * (a + total) / k
        unit = unit if goal.name != "r" else errors[first] / a + errors[-1] / total
    if not math.isfinite(value + unit):
        return ""
    if abs(value - result.value) > AGREE * abs(value) + unit:
        return f"{goal.title} is {value:.6g}, and {result.value:.6g} here"
    if goal.sense * (value - result.bound) > AGREE * abs(value) + unit:
        return f"{goal.title} is {value:.6g}, past the bound of {result.bound:.6g}"
    shape = np.linalg.cond(r[:-1, :-1] / lengths[:-1])
    if (
        k > _MOST
        or left < _TELLING**0.5 * total
        or goal.name == "var"
        or shape * _ROUNDED > AGREE / 10
    ):
        return ""  # coefficients are ill-conditioned, or there are none
    apart = np.abs(result.coef - coef[first:]) * lengths[first:-1]
    if np.any(apart > AGREE * total):
        j = int(np.argmax(apart))
        theirs, ours = coef[first + j], result.coef[j]
        return f"the coefficient of {result.names[j]} is {theirs:.6g}, and {ours:.6g} here"
    return ""


def _triangle(result: Result) -> tuple[Floats, Floats]:
    """Return R of the intercept, the predictors and y, and the column lengths, on the rows kept."""
    kept, first = result.inliers, int(result.fit_intercept)
    X = result.x if result.x.ndim == 2 else result.x[:, None]
    y = result.y if result.objective != "var" else np.zeros(len(X))
    weights = np.ones(len(X)) if result.weights is None else result.weights
    some = kept[:: 1 + len(kept) // _SOME]
    middle = first * np.median(np.column_stack([X[some], y[some]]), axis=0)
    triangles, squares = [], 0.0
    for i in range(0, len(kept), _BLOCK):
        rows = kept[i : i + _BLOCK]
        block = np.empty((len(rows), first + X.shape[1] + 1), order="F")
        block[:, :first] = 1.0
        block[:, first:-1], block[:, -1] = X[rows], y[rows]
        block[:, first:] -= middle
        if result.weights is not None:
            block *= np.sqrt(weights[rows])[:, None]
        squares = squares + np.einsum("ij,ij->j", block, block)
        triangles.append(np.linalg.qr(block, mode="r"))
    r = np.linalg.qr(np.vstack(triangles), mode="r")
    full = np.zeros((first + X.shape[1] + 1,) * 2)
    full[: len(r)] = r
    return full, np.sqrt(squares)
