"""P-values: what they are called, and shuffles not all made."""

from __future__ import annotations

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
