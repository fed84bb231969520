"""What a fitted model says about its term on some rows: its own library fits it again."""

from __future__ import annotations

import math
from dataclasses import replace

from quadsweep.arrays import Ints
from quadsweep.auditing.controls.robust import TermFit
from quadsweep.inputs.fitted.protocol import Model


def state_figures(found: TermFit, model: Model, rows: Ints, term: str) -> TermFit:
    """The fit ``found`` of the columns with the figures of the model on the same rows; NaN where
    these are undefined."""
    figures = model.refit(rows, [term]).figures.get(term)
    if figures is None:
        nan = math.nan
        return replace(found, slope=nan, p_value=nan, se=nan, t=nan)
    return replace(
        found,
        slope=figures.estimate,
        p_value=figures.p,
        se=figures.se,
        t=figures.statistic,
        freedom=found.freedom if math.isinf(figures.df) else int(figures.df),
    )
