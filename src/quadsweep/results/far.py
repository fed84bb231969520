"""Rows that R2 keeps although they lie far off: on the extension of the line, or away from it.

R2 rewards spread. A row far out along the line raises it even where it is a gross error, and an
ordinary row is dropped in its place. Two signs, both of the least squares fit of the rows kept:

    leverage   h_i = x_i' (X'X)^-1 x_i > 1/2, the row alone decides more than half of its own fit
    residual   |e_i| > 5 * 1.4826 * median |e|, and larger than that of some row that was dropped
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.messages import argument
from quadsweep.results import plane
from quadsweep.results.formatting import some

if TYPE_CHECKING:
    from quadsweep.results.result import Result

LEVERAGE = 0.5
RESIDUAL = 5.0  # standard deviations, by the median of the residuals


@np.errstate(over="ignore", invalid="ignore")  # columns near the largest numbers
def far_rows(result: Result) -> str:
    """A sentence about kept rows that are far off, nothing where there are none."""
    if result.objective not in ("r2", "r") or result.k == result.n or result.weights is not None:
        return ""
    matrix, kept = plane.matrix(result), result.inliers
    if len(kept) < 2 * (matrix.shape[1] + 2):  # of so few rows some always decide
        return ""
    leverage = _leverage(matrix[kept], result.fit_intercept)
    residual = np.abs(result.residuals)
    scale = 1.4826 * float(np.median(residual[kept]))
    least = float(np.min(residual[result.outliers]))
    lone = kept[leverage > LEVERAGE]
    off = kept[(residual[kept] > RESIDUAL * scale) & (residual[kept] > least) & (scale > 0)]
    said = []
    if len(lone):
        most = float(leverage.max())
        said.append(f"{_rows(result, lone)} with leverage up to {most:.2g}: far out along x")
    if len(off):
        times = float(residual[off].max()) / scale
        said.append(f"{_rows(result, off)} up to {times:.2g} standard deviations off the line")
    return (
        f"{'; '.join(said)}; {argument('objective', 'lts')} judges by residuals alone"
        if said
        else ""
    )


def _leverage(X: Floats, intercept: bool) -> Floats:
    centred = X - X.mean(axis=0) if intercept else X
    size = np.sqrt(np.mean(centred**2, axis=0))
    q, r = np.linalg.qr(centred[:, size > 0] / size[size > 0])
    q = q[:, np.abs(np.diag(r)) > 1e-9 * np.abs(np.diag(r)).max(initial=0.0)]
    return np.asarray(np.sum(q**2, axis=1) + (1 / len(X) if intercept else 0.0))


def _rows(result: Result, rows: Ints) -> str:
    word = "" if result.labels is not None and not isinstance(result.labels[0], int) else "row "
    return f"{word}{some(rows.tolist(), result.labels, 3)}"
