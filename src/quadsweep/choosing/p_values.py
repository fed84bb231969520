"""P-values: what they are called, corrections for how many there are, and shuffles not all made."""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats

UNREMARKABLE = 0.1  # above this a p-value is called so
SIGNIFICANT = 0.05

STATUSES = {
    "finished": "all {asked:,} shuffles",
    "stopped_early": "stopped after {done:,} of {asked:,} shuffles: the answer was clear",
    "time_limit": "the time limit came after {done:,} of {asked:,} shuffles",
    "interrupted": "interrupted after {done:,} of {asked:,} shuffles",
}


def in_words(p: float) -> str:
    """Whether a p-value is unremarkable, borderline, or small.

    >>> in_words(0.3), in_words(0.07), in_words(0.01)
    ('unremarkable', 'borderline', 'more than noise gives')
    """
    if p > UNREMARKABLE:
        return "unremarkable"
    return "borderline" if p > SIGNIFICANT else "more than noise gives"


def adjusted_p_values(p: Floats, method: str) -> Floats:
    """Holm's or Benjamini and Hochberg's correction; NaN counts as no test.

    >>> adjusted_p_values(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    >>> adjusted_p_values(np.array([0.01, 0.04, 0.03]), "bh")
    array([0.03, 0.04, 0.04])
    """
    out: Floats = np.full(len(p), np.nan)
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    count, rank = len(order), np.arange(len(order))
    if method == "holm":
        steps = np.maximum.accumulate((count - rank) * p[order])
    elif method == "bh":
        scaled = p[order] * count / (rank + 1)
        steps = np.minimum.accumulate(scaled[::-1])[::-1]
    else:
        raise ValueError(f"method must be 'holm' or 'bh'; got {method!r}")
    out[order] = np.minimum(steps, 1.0)
    return out
