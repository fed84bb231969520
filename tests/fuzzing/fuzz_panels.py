"""Audits of panels with many units: degrees of freedom, se and p are those of statsmodels."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import quadsweep as qs

# Units and periods of panels that textbooks use, and smaller ones about as wide.
SHAPES = {"states": (48, 2), "produc": (48, 5), "cigar": (46, 8), "rice": (60, 4), "wide": (90, 2)}
CLAIMS = ("significance", "reverse", "sign")


def panel(units: int, periods: int, seed: int, *, unbalanced: bool = False) -> Any:
    """Outcomes that follow x, z and their unit; some rows are missing where it is unbalanced."""
    rng = np.random.default_rng(seed)
    unit, period = np.repeat(np.arange(units), periods), np.tile(np.arange(periods), units)
    x, z = rng.normal(size=(2, len(unit))) + 3 * rng.normal(size=units)[unit]
    noise = rng.normal(size=len(unit)) * rng.choice([1, 5], p=[0.9, 0.1], size=len(unit))
    frame = pd.DataFrame({
        "y": 0.3 * x + z + noise + 5 * rng.normal(size=units)[unit], "x": x, "z": z,
        "unit": [f"u{i}" for i in unit], "period": period,
    })  # fmt: skip
    return frame[rng.random(len(frame)) > 0.15].reset_index(drop=True) if unbalanced else frame


def differences(count: int, seed: int, seconds: float = 0.3) -> Iterator[str]:
    """Audits that differ from statsmodels, before or after, to 1e-8."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        shape = list(SHAPES)[rng.integers(len(SHAPES))]
        frame = panel(*SHAPES[shape], int(rng.integers(2**31)), unbalanced=bool(i % 2))
        more = ["", " + z"][rng.integers(2)]
        absorbed = bool(rng.integers(2))
        text = f"y ~ x{more} | unit" if absorbed else f"y ~ x{more} + C(unit)"
        claim = CLAIMS[rng.integers(len(CLAIMS))]
        found = qs.audit(text, frame, term="x", claim=claim, time_limit=seconds)
        for what, fit in (("before", found.before), ("after", found.after)):
            if fit is None:
                continue
            gone = found.outliers if what == "after" else []
            stated = smf.ols(f"y ~ x{more} + C(unit)", frame.drop(index=gone)).fit()
            theirs = (stated.df_resid, stated.bse["x"], stated.pvalues["x"])
            ours = (fit.freedom, fit.se, fit.p_value)
            pairs = zip(ours, theirs, strict=True)
            if not all(math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-300) for a, b in pairs):
                yield f"{shape}, {text}, {claim}, {what}, number {i}: {ours} for {theirs}"


if __name__ == "__main__":  # python tests/fuzzing/fuzz_panels.py COUNT SEED
    count, seed = (6, 0) if "--quick" in sys.argv else map(int, sys.argv[1:])
    wrong = list(differences(count, seed))
    print(*wrong, sep="\n")
    print(f"{len(wrong)} of {count} audits differ")
    sys.exit(bool(wrong))
