"""Points with outliers, ties and copies, and the file in row groups that holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def some_points(seed: int, n: int) -> tuple[Any, Any]:
    """A line with outliers; by seed whole, rounded, with repeats, zero-inflated or far away."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = rng.choice([0.3, 1.0, -1.0]) * x + rng.choice([0.05, 0.3, 1.0]) * rng.normal(size=n)
    wrong = rng.random(n) < rng.choice([0.05, 0.2])
    y[wrong] = 3 * rng.normal(size=wrong.sum())
    kind = seed % 6
    if kind == 1:
        x, y = np.round(3 * x), np.round(3 * y)
    elif kind == 2:
        x, y = np.round(x, 1), np.round(y, 1)
    elif kind == 3:
        again = rng.integers(0, n, n)
        x, y = x[again], y[again]
    elif kind == 4:
        x, y = np.where(rng.random(n) < 0.3, 0.0, x), np.where(rng.random(n) < 0.3, 0.0, y)
    elif kind == 5:
        x, y = 1e-5 * x + 1e3, 1e6 * y - 1e7
    return x, y


def written(path: Path, x: Any, y: Any, row_groups: int = 17) -> str:
    table = pa.table({"a": x, "b": y, "number": np.arange(len(x))})
    pq.write_table(table, path, row_group_size=-(-len(x) // row_groups))
    return str(path)
