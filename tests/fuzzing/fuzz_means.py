"""Audits of meta-analyses and Mendelian randomisation against every subset of up to 15 studies.

    python tests/fuzzing/fuzz_means.py --instances 2000 --state fuzz_means.jsonl

Means, slopes through the origin and slopes with an intercept, weighted by 1 / se^2, with known
variances or with multiplicative dispersion, by Student's t or the normal distribution. Half of the
audits may try removals one by one, the others must do without. Effects on a lattice have ties.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
from fuzz_controls import replaced
from fuzz_estimating import usual
from fuzz_runs import Verdict
from scipy.special import ndtr, stdtr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quadsweep as qs
from quadsweep.arrays import Floats
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.refits import Refits

FORMULAS = {"mean": "y ~ 1", "origin": "y ~ 0 + x", "slope": "y ~ x"}
CLAIMS = ("significance", "significance", "reverse", "sign")
ERRORS: dict[str, dict[str, Any]] = {
    "known": {"vcov": "known"}, "t": {},
    "z": {"cov_type": "nonrobust", "cov_kwds": {"use_t": False}},
}  # fmt: skip
NEAR = 1e-7  # of a p-value, relative, or of an estimate in standard errors


@cache
def subsets(n: int) -> Floats:
    """All subsets of n rows, one a row, 1 for those kept."""
    return np.array((np.arange(2**n)[:, None] >> np.arange(n)) & 1, dtype=np.float64)


def refit(model: str, errors: str, columns: dict[str, Floats]) -> tuple[Floats, Floats, Floats]:
    """z or t of a coefficient on every subset, its p-value, and the rows kept."""
    kept = subsets(len(columns["y"]))
    w = columns["w"]
    x = np.ones(len(w)) if model == "mean" else columns["x"]
    y, used = columns["y"] - columns["y"].mean() * (model == "slope"), 1 + (model == "slope")
    count = kept.sum(axis=1)
    with np.errstate(all="ignore"):
        a, b, c = kept @ (w * x * x), kept @ (w * y * y), kept @ (w * x * y)
        if model == "slope":
            x, total = x - np.average(x, weights=w), kept @ w
            sx, sy = kept @ (w * x), kept @ (w * y)
            a, b, c = kept @ (w * x * x), b, kept @ (w * x * y)
            a, b, c = a - sx * sx / total, b - sy * sy / total, c - sx * sy / total
        freedom = np.maximum(count - used, 1)
        scale = 1.0 if errors == "known" else (b - c * c / a) / freedom
        statistic = c / np.sqrt(a * scale)
        tail = stdtr(freedom, -abs(statistic)) if errors == "t" else ndtr(-abs(statistic))
    statistic[count <= used] = np.nan
    return statistic, 2 * tail, count


def draw(seed: int, number: int) -> tuple[str, str, str, dict[str, Floats]]:
    rng = np.random.default_rng([seed, number])
    model = list(FORMULAS)[number % 3]
    errors = str(rng.choice(["known", "known", "t", "z"]))
    claim = CLAIMS[number // 3 % len(CLAIMS)]
    n = int(rng.integers(5, 16))
    se = rng.uniform(0.05, 1, n) if rng.uniform() < 0.8 else np.full(n, 0.25)
    x = rng.normal(size=n) if rng.uniform() < 0.5 else rng.uniform(0.02, 0.2, n)
    y = rng.uniform(-0.3, 0.8) * (x if model != "mean" else 1) + se * rng.normal(
        size=n
    ) * rng.uniform(0.5, 3)
    if rng.uniform() < 0.2:
        y = np.rint(4 * y) / 4
    return model, errors, claim, {"y": y, "x": x, "w": 1 / se**2}


def fewest(model: str, errors: str, claim: str, columns: dict[str, Floats], most: int) -> Any:
    """The fewest rows whose removal breaks the claim, None where none does; or NaN if unclear."""
    statistic, p, count = refit(model, errors, columns)
    n = len(columns["y"])
    before = statistic[-1], p[-1]
    turned = statistic * np.sign(before[0]) < -NEAR
    if claim == "sign":
        broken, unclear = turned, abs(statistic) < NEAR
    elif claim == "reverse":
        broken, unclear = turned & (p < 0.05), abs(p - 0.05) < NEAR
    else:
        broken, unclear = (p < 0.05) != (before[1] < 0.05), abs(p - 0.05) < NEAR
    defined = np.isfinite(statistic) & (count >= n - most)
    gone = n - count
    least = min(gone[defined & broken], default=np.inf)
    if unclear[-1] or (defined & unclear & (gone <= least)).any():
        return np.nan
    return None if least == np.inf else int(least)


def judge(seed: int, number: int) -> Verdict:
    model, errors, claim, columns = draw(seed, number)
    listed = number // 12 % 2 == 0
    kind = f"{model}, {errors}{'' if listed else ', not listed'}"
    never = classmethod(lambda cls, case: False)
    with (
        usual() if listed else replaced(Refits, handles=never),
        usual() if listed else replaced(Enumeration, handles=never),
    ):
        try:
            found = qs.audit(
                FORMULAS[model], columns, term="Intercept" if model == "mean" else "x",
                claim=claim, weights="w", time_limit=10, n_jobs=1, **ERRORS[errors],
            )  # fmt: skip
        except ValueError:
            return Verdict(kind, fuzz_runs.NONE)
    truth = fewest(model, errors, claim, columns, found.max_drop)
    if truth != truth:
        return Verdict(kind, fuzz_runs.NONE)
    if found.upper is None:
        right = truth is None or (not found.success and found.lower <= truth)
    else:
        right = truth is not None and found.lower <= truth <= found.upper
    if not right:
        return Verdict(kind, fuzz_runs.WRONG, f"question {number}: {truth}, {found.message}")
    if not found.success:
        return Verdict(kind, fuzz_runs.OPEN, f"question {number}, {kind}: {found.message}")
    return Verdict(kind, fuzz_runs.RIGHT)


def main() -> int:
    given = fuzz_runs.parser(__doc__.splitlines()[0], instances=2_000, quick=60).parse_args()
    return fuzz_runs.main(judge, given, chunk=40, options={})


if __name__ == "__main__":
    sys.exit(main())
