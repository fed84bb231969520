"""How far can m removals move the result?"""

from __future__ import annotations

from typing import Any

import numpy as np

from quadsweep.auditing.climbing import (
    Climber,
    CorrelationClimber,
    Extreme,
    SlopeClimber,
    least_r2_on_the_way,
)
from quadsweep.auditing.controls.reading import is_regression, read
from quadsweep.auditing.controls.robust import fit_term
from quadsweep.auditing.curves import CoefficientCurve, InfluenceCurve, Range
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import fit
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.rows import plain, units_limit
from quadsweep.clock import Stopped
from quadsweep.inputs.arguments import arranged
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, counting

_PATIENCE = 5.0  # seconds for one question, after which a wider bound is asked for


def influence_curve(
    points: Any = None,
    /,
    y: Any = None,
    *,
    x: Any = None,
    controls: Any = None,
    groups: Any = None,
    weights: Any = None,
    data: Any = None,
    term: str | None = None,
    max_drop: int | float | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: CountProgress = None,
) -> InfluenceCurve | CoefficientCurve:
    """The largest and smallest slope, r and R2 that removing up to m rows can reach, with bounds.

    Parameters
    ----------
    points, x, y : as in :func:`quadsweep.audit`.
    controls, groups, weights, data, term : as in :func:`quadsweep.audit`.
        With any of them but ``data``, or a formula or a fitted model, the curve is that of the
        term's coefficient.
    max_drop : int or float, optional
        The largest m, a number or a share of n; 5 % of n but at most 20 if left out.
    time_limit, n_jobs, seed, nan_policy, progress : as in :func:`quadsweep.solve`; a callable is
        given (done, total, seconds).
        A limit keeps the part of the curve that is finished. A callable is given (m, largest m,
        nodes, seconds).

    Returns
    -------
    InfluenceCurve, or CoefficientCurve where there is more than one predictor

    Notes
    -----
    Values and bounds of slope and r differ by 1e-6 at most (of a correlation; slopes in units of
    sd(y)/sd(x)) unless the engine could not decide, and then by what it could. The smallest R2 is
    0 or more as soon as r can take either sign: its bound is 0, the value the smallest one seen.

    Examples
    --------
    >>> import quadsweep as qs
    >>> curve = qs.influence_curve([1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20], max_drop=1)
    >>> [f"{v:.3f}" for v in curve.slope.low]
    ['0.860', '-1.000']
    """
    resources = Resources.given(time_limit, n_jobs, seed, patience=_PATIENCE)
    x, y, data = arranged("influence_curve", points, x, y, data, models=True)
    regression = {"controls": controls, "groups": groups, "weights": weights, "term": term}
    of_term = is_regression(x, **regression)
    if of_term:
        given = read(x, y, data=data, **regression, vcov=None, nan_policy=nan_policy)
        given.least_squares("influence_curve")
    else:
        given = plain(*loaded("influence_curve", x, y, data), nan_policy=nan_policy)
    design, moments = given.design, Moments(given.design, resources.check)
    kinds: dict[str, type[Climber]] = {"slope": SlopeClimber}
    if not of_term:
        kinds["r"] = CorrelationClimber
    climbers = {
        f"{way}{name}": climber(moments, resources, -1 if way else +1)
        for name, climber in kinds.items()
        for way in ("-", "")
    }
    found, status = _climb(climbers, _most(max_drop, design), resources, progress)
    m, slope = np.arange(len(found["slope"])), Range.between(found["-slope"], found["slope"])
    if of_term:
        of_all = fit_term(design, np.arange(design.n), given.errors)
        took = resources.gone()
        return CoefficientCurve(m, slope, of_all, status, design.size, took, term=design.term)
    r = Range.between(found["-r"], found["r"])
    ends = zip(found["r"], found["-r"], strict=True)
    seen = [least_r2_on_the_way(moments, high.removal, low.removal) for high, low in ends]
    r2, names = r.squared(np.minimum.accumulate(np.array(seen))), (design.term, design.outcome)
    full = fit(design.x, design.y)
    took = resources.gone()
    return InfluenceCurve(m, slope, full, status, design.n, took, r=r, r2=r2, names=names)


def _most(max_drop: Any, design: Design) -> int:
    """The largest m: as given, or 5 % of what there is but at most 20."""
    most = units_limit(max_drop, design)
    return min(max(1, design.size // 20), 20, most) if max_drop is None else most


def _climb(
    climbers: dict[str, Climber], most: int, resources: Resources, progress: Any
) -> tuple[dict[str, list[Extreme]], str]:
    """The extremes of each climber for m = 0, 1, ..., as far as the limits allow; the status."""
    found = [{name: climber.best for name, climber in climbers.items()}]
    status = "optimal"
    with counting(progress, "numbers of removals") as tick:
        resources.callback = lambda nodes, seconds: tick(len(found) - 1, most, seconds)
        try:
            for m in range(1, most + 1):
                found.append({name: climber.climb(m) for name, climber in climbers.items()})
        except Stopped as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
    if status == "optimal" and not all(e.is_close for e in found[-1].values()):
        status = "undecided"
    return {name: [each[name] for each in found] for name in climbers}, status
