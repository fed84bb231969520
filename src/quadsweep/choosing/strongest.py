"""The strongest pairs of columns, as a table to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from quadsweep.choosing.pairwise_result import PairwiseResult

_MOST = 20


def strongest(result: PairwiseResult) -> list[Sequence[str]]:
    """Pairs by the size of their trimmed correlation, largest first, a header above them."""
    i, j = np.triu_indices(len(result.names), 1)
    size = np.nan_to_num(np.abs(result.r[i, j]), nan=-1.0)
    best = np.argsort(-size, kind="stable")[:_MOST]
    columns = {"r": result.r, "Pearson": result.pearson}
    if result.p_values is not None:
        columns |= {"p": result.p_values, "p (Holm)": result.adjusted("holm")}
    rows = [
        (
            f"{result.names[i[at]]}, {result.names[j[at]]}",
            *(f"{values[i[at], j[at]]:.3g}" for values in columns.values()),
            f"{result.kept[i[at], j[at]]:,} of {result.rows[i[at], j[at]]:,}",
        )
        for at in best
    ]
    title = "pair" if len(i) <= _MOST else f"pair (the {_MOST} strongest)"
    return [(title, *columns, "kept"), *rows]
