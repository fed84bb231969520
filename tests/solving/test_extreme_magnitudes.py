"""Columns near the ends of floating point: an answer or one sentence, never a raw error."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quadsweep as qs


def told(result: Any) -> Any:
    """The result, after it has printed itself and gone to JSON."""
    assert result.summary() is not None
    assert json.dumps(result.to_dict(), default=str)
    return result


@pytest.mark.parametrize("scale", [1e-165, 1e-310, 1e160, 1e300])
def test_paths_of_tiny_and_huge_columns(scale):
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    found, usual = told(qs.path(x, scale * y)), qs.path(x, y)
    assert np.allclose(found.value, usual.value, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-170, 1e160, 1e300])
def test_audits_of_tiny_and_huge_columns(scale):
    x = np.arange(12.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, usual = told(qs.audit(x, scale * np.sin(x))), qs.audit(x, np.sin(x))
    assert (found.lower, found.upper) == (usual.lower, usual.upper)


@pytest.mark.parametrize("seed", range(2))
def test_a_column_over_two_hundred_powers_of_ten_beside_another(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 8))
    w = 10.0 ** np.linspace(-100, 100, 8) * rng.choice([-1, 1], 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told(qs.solve(np.column_stack([x, w]), y, 6, time_limit=1))
        for claim in ("sign", "significance"):
            for vcov in ("iid", "HC1"):
                frame = pd.DataFrame({"x": x, "w": w, "y": y})
                told(qs.audit("y ~ x + w", frame, term="x", claim=claim, vcov=vcov, time_limit=0.5))
