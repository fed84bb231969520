"""Rules of thumb for k, from the curve of the optimum against the points dropped."""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.choosing.line_significance import LineSignificance
from quadsweep.choosing.path_significance import PathSignificance


def suggest(
    k: Ints, value: Floats, sense: int, noise: PathSignificance | None
) -> dict[str, int | None]:
    """Each rule's k; the rules are stated in :meth:`quadsweep.Path.suggestions`."""
    finite = np.isfinite(value)
    sizes, score = k[finite], sense * value[finite]
    rules = {"gain": largest_gain(sizes, score), "elbow": elbow(sizes, score)}
    if not isinstance(noise, LineSignificance):
        return rules
    clear = noise.n - noise.n_outliers if noise.n_outliers else None
    # Beside a test that tells outliers from noise, rules that cannot may only agree with it.
    agreeing = {rule: size for rule, size in rules.items() if size == clear and size is not None}
    return {"stands out": clear, **agreeing}


def largest_gain(k: Ints, score: Floats) -> int | None:
    """The k after the step that gains most per point dropped.

    >>> largest_gain(np.array([10, 9, 8]), np.array([0.1, 0.7, 0.8]))
    9
    """
    if len(k) < 2:
        return None
    gain = np.diff(score) / -np.diff(k)
    return int(k[1 + np.argmax(gain)]) if gain.max() > 0 else None


def elbow(k: Ints, score: Floats) -> int | None:
    """The k at which the curve is farthest above the straight line between its ends.

    >>> elbow(np.array([10, 9, 8, 7]), np.array([0.1, 0.3, 0.8, 0.85]))
    8
    """
    if len(k) < 3 or not score[-1] > score[0]:
        return None
    across = (k[0] - k) / (k[0] - k[-1])
    up = (score - score[0]) / (score[-1] - score[0])
    best = int(np.argmax(up - across))
    return int(k[best]) if up[best] - across[best] > 1e-12 else None
