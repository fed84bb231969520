"""Words for p-values, and for a test that was stopped before all shuffles were made."""

from __future__ import annotations

import math

UNREMARKABLE = 0.1  # above this a p-value is called so
SIGNIFICANT = 0.05
FEWEST = math.ceil(1 / SIGNIFICANT) - 1  # shuffles: the least p-value of fewer is above 5%

STATUSES = {
    "finished": "all {asked:,} shuffles",
    "stopped_early": "stopped after {done:,} of {asked:,} shuffles: the answer was clear",
    "time_limit": "the time limit came after {done:,} of {asked:,} shuffles",
    "interrupted": "interrupted after {done:,} of {asked:,} shuffles",
}


def no_verdict(done: int, what: str = "shuffles") -> str:
    """Return why so few shuffles allow no verdict; empty if there are enough.

    >>> no_verdict(5)
    'no verdict from 5 shuffles: a p-value of 0.05 takes at least 19'
    """
    if done >= FEWEST:
        return ""
    made = f"{done or 'no'} {what.removesuffix('s') if done == 1 else what}"
    return f"no verdict from {made}: a p-value of {SIGNIFICANT} takes at least {FEWEST}"


def in_words(p: float) -> str:
    """Whether a p-value is unremarkable, borderline, or small; NaN allows no verdict.

    >>> in_words(0.3), in_words(0.07), in_words(0.01), in_words(math.nan)
    ('unremarkable', 'borderline', 'more than noise gives', 'no verdict')
    """
    if math.isnan(p):
        return "no verdict"
    if p > UNREMARKABLE:
        return "unremarkable"
    return "borderline" if p > SIGNIFICANT else "more than noise gives"
