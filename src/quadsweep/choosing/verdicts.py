"""What a p-value is called, and what to say of shuffles that were not all made."""

from __future__ import annotations

UNREMARKABLE = 0.1  # above this a p-value is called so
SIGNIFICANT = 0.05

STATUSES = {
    "finished": "all {asked:,} shuffles",
    "stopped_early": "stopped after {done:,} of {asked:,} shuffles: the answer was clear",
    "time_limit": "the time limit came after {done:,} of {asked:,} shuffles",
    "interrupted": "interrupted after {done:,} of {asked:,} shuffles",
}
