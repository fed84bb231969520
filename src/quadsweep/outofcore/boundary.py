"""The conic between rows kept and rows left out, where they are not in memory.

The candidate is that of rows in memory (``answers.boundary``): the level set of the objective's
gradient at the optimum, here from the sums of the rows kept. One pass evaluates it on every row, as
a ``Conic`` does. Its level is half way between the least gain of a row kept and the largest of a
row left out, and the two sides are apart if and only if it lies strictly between these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.distributed.store import Columns
from quadsweep.objectives import Objective
from quadsweep.outofcore.flags import Decided, Flags
from quadsweep.outofcore.running import Passes
from quadsweep.outofcore.work import PartReader
from quadsweep.results.boundary import NO_BOUNDARY, TOO_LARGE, TWINS
from quadsweep.results.conic import Conic


def gradient_of_sums(
    objective: Objective, moments: list[float], k: int, placing: Any
) -> Conic | None:
    """Return the gradient of the objective at k rows, from their placed sums; None if undefined."""
    x0, y0, ex, ey, slope = placing
    mx, my = moments[0] / k, moments[1] / k
    tilt = math.ldexp(slope, ex - ey)  # y was placed as what is left of it above a line
    a, c, b = (s - k * p for s, p in zip(moments[2:], (mx * mx, mx * my, my * my), strict=True))
    my, c, b = my + tilt * mx, c + tilt * a, b + tilt * (2 * c + tilt * a)
    sx = math.ldexp(math.sqrt(max(a, 0.0) / k), ex) or 1.0
    sy = math.ldexp(math.sqrt(max(b, 0.0) / k), ey) or 1.0
    if objective.name in ("tv", "dv"):
        sx = sy = max(sx, sy)
    u, w = math.ldexp(1 / sx, ex), math.ldexp(1 / sy, ey)
    try:
        g = objective.gradient_of_sums(a * u * u, b * w * w, c * u * w)
    except ZeroDivisionError:
        return None
    origin = x0 + math.ldexp(mx, ex), y0 + math.ldexp(my, ey)
    return Conic((*g, 0.0, 0.0, 0.0), origin, (sx, sy))


@dataclass(frozen=True)
class _Gains(Decided):
    """A pass that evaluates the gain of every row."""

    gain: Any = None


def boundary_in_a_pass(flags: Flags, gain: Conic | None, dropped: int) -> tuple[Conic | None, str]:
    """A conic with the rows kept on its positive side and all others on its negative one, or why
    there is none."""
    if not dropped:
        return None, NO_BOUNDARY
    if len(flags.decision.divided):
        return None, TWINS
    if gain is None:
        return None, TOO_LARGE
    task = _Gains(flags.source, decision=flags.decision, gain=gain)
    found = [one["ends"] for one in Passes(flags.jobs).over("boundary", _ends, task)]
    low, high = np.min(found, axis=0)
    level = (float(low) - float(high)) / 2
    if not low > level > -high:
        return None, TOO_LARGE
    return replace(gain, local=(*gain.local[:5], -level)), ""


@np.errstate(over="ignore", invalid="ignore")  # columns near the largest numbers
def _ends(task: _Gains, first: int, last: int, plan: str) -> Columns:
    """Return the least gain of a row kept and minus the largest gain of a row dropped."""
    ends, reader = np.full(2, np.inf), PartReader(task.source)
    for part in range(first, last):
        x, y, kept, known = task.read(part, reader)
        gain = task.gain(x, y)
        out = -gain[known & ~kept]
        ends = np.minimum(ends, [gain[kept].min(initial=np.inf), out.min(initial=np.inf)])
    return reader.packed(ends=ends)
