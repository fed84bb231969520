"""From a removal that moves r past zero to one that leaves it near: for |r| below a threshold.

A removal that takes r below a threshold may take it too far, to the other side of the range in
which the claim breaks; nearby removals may not. Or it takes r only below the threshold for the
fewest degrees of freedom in question; then a few more units must be removed.
"""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.heuristics import fewest_first

_STEPS = 12
_PAIRS = 10**6
_WALKED = 10**8  # most operations on steps of one unit
_MANY = 50_000  # with more units, one unit does not jump over the range


def repair_overshoot(problem: BreakProblem, removal: Ints, most: int) -> Ints | None:
    """Return a removal of at most ``most`` units that breaks the claim, or None."""
    if problem.broken(removal):
        return removal
    size = problem.moments.design.size
    if problem.passed(removal):
        if size > _MANY and type(problem) is BreakProblem:
            fewer = fewest_first(problem, removal, problem.gain(removal)[removal])
            if fewer is not None and problem.broken(fewer):
                return fewer
        for exchange in (False, True):
            found = _walk(problem, removal, exchange)
            if found is not None:
                return found
        return _exchanged(problem, removal)
    for _ in range(min(most - len(removal), _WALKED // size)):
        gain = problem.gain(removal)
        gain[removal] = np.inf
        removal = np.sort(np.append(removal, np.argmin(gain)))
        if problem.broken(removal):
            return removal
    return None


def _walk(problem: BreakProblem, removal: Ints, exchange: bool) -> Ints | None:
    """Put units back one by one, or exchange units, until the claim breaks; return the removal.

    The first unit put back is the one that brings r closest to 0 from the far side.
    """
    size = problem.moments.design.size
    gone = np.zeros(size, dtype=bool)
    gone[removal] = True
    for _ in range(min(2 * size, _WALKED // size)):
        pull = -problem.gain(np.flatnonzero(gone))
        out, kept = np.flatnonzero(gone), np.flatnonzero(~gone)
        rising = out[pull[out] > (pull[kept].min() if exchange else -np.inf)]
        if len(rising) == 0 or not problem.passed(out):
            return None
        gone[rising[-1] if exchange else rising[np.argmin(pull[rising])]] = False
        if exchange:
            gone[kept[np.argmin(pull[kept])]] = True
        now = np.flatnonzero(gone)
        if problem.broken(now):
            return now
    return None


def _exchanged(problem: BreakProblem, removal: Ints) -> Ints | None:
    """Exchange, repeatedly, the two units whose exchange brings r closest to 0 to first order."""
    design = problem.moments.design
    if len(removal) * (design.size - len(removal)) > _PAIRS:
        return None
    gone: Mask = np.zeros(design.size, dtype=bool)
    gone[removal] = True
    closest = np.inf
    for _ in range(_STEPS):
        out, kept = np.flatnonzero(gone), np.flatnonzero(~gone)
        r = problem.residuals(out)
        a, b, c = (
            total + own[out][:, None] - own[kept]
            for total, own in (
                (r.a, design.sums(r.x * r.x)),
                (r.b, design.sums(r.y * r.y)),
                (r.c, design.sums(r.x * r.y)),
            )
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            size: Floats = np.abs(c) / np.sqrt(a * b)
        size = np.where(np.isnan(size), np.inf, size)
        i, j = np.unravel_index(np.argmin(size), size.shape)
        if not size[i, j] < closest:
            return None
        closest = float(size[i, j])
        gone[out[i]], gone[kept[j]] = False, True
        if problem.broken(np.flatnonzero(gone)):
            return np.flatnonzero(gone)
    return None
