"""Errors in the words of the door used: the functions say ``drop=60``, a command ``--drop 60``."""

from __future__ import annotations

import re

_SPELLED_ALIKE = (
    "drop", "max_drop", "time_limit", "memory_limit", "objective", "method", "methods", "claim",
    "level", "threshold", "permutations", "null", "seed", "term", "groups", "weights", "vcov",
    "controls", "resample", "resamples", "margin", "p_values",
)  # fmt: skip
_OPTIONS = {"k": "--keep", "n_jobs": "--jobs"} | {
    name: f"--{name.replace('_', '-')}" for name in _SPELLED_ALIKE
}
_NAMES = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"\b({_NAMES})=(?=(\S))")  # drop=60, or "give term=, one of"
_FIRST = re.compile(rf"^({_NAMES})(?= (?:must|may|'))")  # level must be ...
_PHRASES = {
    "give exactly one of k (points to keep) and drop": "give exactly one of --keep and --drop",
    "controls='fixed'": "--fixed-controls",
    "threshold=(low, high)": "--threshold low,high",
    "needs a threshold in": "needs a --threshold in",
    "; got None": "; got none",
    "null='line'": "--null line",
}


def as_options(message: str) -> str:
    """A sentence about arguments as one about options.

    >>> as_options("drop=60 drops 60 of 47 points"), as_options("n_jobs must be positive; got 0")
    ('--drop 60 drops 60 of 47 points', '--jobs must be positive; got 0')
    """
    for said, meant in _PHRASES.items():
        message = message.replace(said, meant)
    message = _GIVEN.sub(lambda m: _OPTIONS[m[1]] + " " * (m[2] not in ",;"), message)
    return _FIRST.sub(lambda match: _OPTIONS[match[1]], message)
