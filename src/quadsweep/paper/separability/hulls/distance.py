"""The paper's hull distance, HDO: min |lambda'A - mu'B|^2 over two simplices.

A and B are the lifted inliers and outliers. The program is solved by an interior point method
through its dual, which has d + 2 variables whatever n is:

    max p - q - |w|^2 / 4    subject to    w.a >= p for every inlier,  w.b <= q for every outlier.

The multipliers of the constraints are lambda and mu. Both values are then taken anew from lambda,
mu and w, each made feasible, so that dual <= d*^2 <= primal but for the rounding of a dot product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quadsweep import lifts
from quadsweep.arrays import Floats, Mask
from quadsweep.extras import needed
from quadsweep.inputs.validation import unmasked

TOLERANCE = 1e-10  # the paper's: a squared distance above it counts as separation
_PRECISION = 1e-13  # of residuals and gap, where the lifted points have size 1
_CHUNK = 4096  # instances lifted at a time


class HullDistances(NamedTuple):
    """Squared distances of many pairs of hulls: upper bounds, lower bounds, weights (T by n)."""

    primal: Floats
    dual: Floats
    weights: Floats

    @property
    def separable(self) -> Mask:
        """The paper's verdict: a primal value above 1e-10."""
        return np.asarray(self.primal > TOLERANCE)


def hull_distance(
    x: ArrayLike, y: ArrayLike, masks: ArrayLike, lift: str | None = None
) -> HullDistances:
    """Squared distances between the hulls of lifted inliers and outliers, for T data sets.

    One solver's workspace serves all of them. The sizes of the subsets may differ.

    Parameters
    ----------
    x, y : arrays of shape (T, n)
        With p predictors x has the shape (T, n, p).
    masks : boolean array of shape (T, n)
        True for inliers; each row needs one inlier and one outlier at least.
    lift : str, optional
        A name of :mod:`quadsweep.lifts`; by default any conic, or any quadric.

    Examples
    --------
    >>> from quadsweep.paper.separability.separate import hull_distance
    >>> found = hull_distance([[0.0, 1.0, 3.0]], [[0.0, 0.0, 4.0]], [[True, True, False]], "L3t")
    >>> found.primal.round(6), found.separable
    (array([596.]), array([ True]))
    """
    xs, ys = (np.atleast_2d(np.asarray(unmasked(v), float)) for v in (x, y))
    inside = np.atleast_2d(np.asarray(masks, dtype=bool))
    if xs.ndim == 3 and xs.shape[2] == 1:
        xs = xs[:, :, 0]
    if not xs.shape[:2] == ys.shape == inside.shape or xs.ndim > 3:
        raise ValueError(
            "x, y and masks must have one shape (T, n), or x (T, n, p); got "
            f"{xs.shape}, {ys.shape} and {inside.shape}"
        )
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise ValueError("x and y must be finite; got NaN or infinity")
    if np.any(inside.all(axis=1) | ~inside.any(axis=1)):
        raise ValueError("every row of masks must hold at least one inlier and one outlier")
    (count, n), p = ys.shape, 1 if xs.ndim == 2 else xs.shape[2]
    lift = lifts.general(p) if lift is None else lift
    program = HullProgram(n, lifts.dimension(lift, p))
    parts = [
        program.solve(_lifted(xs[s : s + _CHUNK], ys[s : s + _CHUNK], lift), inside[s : s + _CHUNK])
        for s in range(0, count, _CHUNK)
    ]
    if not parts:
        return HullDistances(np.empty(0), np.empty(0), np.empty((0, n)))
    return HullDistances(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _lifted(x: Floats, y: Floats, lift: str) -> Floats:
    """Lifted points, T by n by d."""
    with np.errstate(over="ignore", invalid="ignore"):
        p = 1 if x.ndim == 2 else x.shape[2]
        flat = lifts.get(lift, p)(x.reshape(-1, *x.shape[2:]), y.ravel())
    return flat.reshape(*y.shape, -1)


class HullProgram:
    """One interior point workspace for all programs with n points in d dimensions."""

    def __init__(self, n: int, d: int) -> None:
        with needed("the distance of the hulls"):
            import piqp
        self._n, self._d = n, d
        self._solver: Any = piqp.DenseSolver()
        settings = self._solver.settings
        settings.eps_abs = settings.eps_rel = _PRECISION
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = _PRECISION
        settings.max_iter = 100
        self._ready = False

    def solve(self, lifted: Floats, masks: Mask) -> HullDistances:
        """Distances for lifted points (T, n, d) and masks (T, n); NaN where a lift overflows."""
        # Shifting and scaling all lifted points alike scales the distance, and spares the solver.
        with np.errstate(over="ignore", invalid="ignore"):
            centred = lifted - lifted.mean(axis=1, keepdims=True)
            size = np.abs(centred).max(axis=(1, 2))
            size[size == 0] = 1.0
            centred /= size[:, None, None]
        side = np.where(masks, 1.0, -1.0)
        sides = np.stack([masks, -1.0 * ~masks], axis=2)
        rows = np.concatenate([-side[:, :, None] * centred, sides], axis=2)
        multipliers = np.zeros(masks.shape)
        normals = np.zeros((len(masks), self._d))
        for t in np.flatnonzero(np.isfinite(size)):
            normals[t], multipliers[t] = self._one(rows[t])
        return _bounds(centred, masks, normals, multipliers, size)

    def _one(self, rows: Floats) -> tuple[Floats, Floats]:
        """The normal w and the multipliers of one program."""
        if self._ready:
            self._solver.update(G=rows)
        else:
            d = self._d
            quadratic = np.diag([0.5] * d + [0.0, 0.0])
            linear = np.array([0.0] * d + [-1.0, 1.0])
            upper = np.zeros(self._n)
            self._solver.setup(quadratic, linear, None, None, rows, None, upper, None, None)
            self._ready = True
        self._solver.solve()
        result = self._solver.result
        return np.array(result.x[: self._d]), np.array(result.z_u)


def _bounds(
    centred: Floats, masks: Mask, normals: Floats, multipliers: Floats, size: Floats
) -> HullDistances:
    """Both values from feasible points, in the units of the data."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.where(np.isfinite(multipliers), np.maximum(multipliers, 0.0), 0.0)
        normals = np.where(np.isfinite(normals).all(axis=1, keepdims=True), normals, 0.0)
        for members in (masks, ~masks):
            total = (weights * members).sum(axis=1, keepdims=True)
            even = 1.0 / members.sum(axis=1, keepdims=True)
            share = np.where(total > 0, weights / np.where(total > 0, total, 1.0), even)
            weights = np.where(members, share, weights)
        between = np.einsum("tn,tnd->td", np.where(masks, weights, -weights), centred)
        primal = (between**2).sum(axis=1)
        along = np.einsum("td,tnd->tn", normals, centred)
        lowest = np.where(masks, along, np.inf).min(axis=1)
        highest = np.where(masks, -np.inf, along).max(axis=1)
        dual = lowest - highest - (normals**2).sum(axis=1) / 4
        return HullDistances(primal * size**2, dual * size**2, weights)
