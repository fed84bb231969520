"""The search around scores alone, with the factors of libraries, against every refit.

    python tests/fuzzing/fuzz_score_search.py [instances] [--seed N]

The level of significance is put close to the extreme p-value of all removals, on either side, so
that a threshold that is off by a degree of freedom shows. Units and clusters empty, rows are left
alone in their unit.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

import quadsweep as qs
from quadsweep.auditing.controls.robust import RobustProblem, fit_term
from quadsweep.auditing.oracles.scores import ScoreSearch
from quadsweep.auditing.resources import OutOfPatience, Resources

KINDS = (
    "HC0", "HC1", "HC2", "HC3", "cluster", "groups", "panel", "states", "two effects",
    "groups, HC3", "dummies",
)  # fmt: skip
CLOSE = 1e-5  # of the level


def asked(seed: int) -> tuple[pd.DataFrame, str, dict[str, Any]]:
    """Rows, a formula and the standard errors of a small instance."""
    rng = np.random.default_rng([seed, 44])
    kind = KINDS[seed % len(KINDS)]
    panel = kind in ("panel", "states", "two effects", "groups, HC3", "dummies")
    sizes = rng.integers(*[(1, 5), (3, 6)][seed % 2], size=6) if panel else np.full(7, 2)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    n = len(unit)
    frame = pd.DataFrame({
        "unit": [f"u{i}" for i in unit], "state": [f"s{i // 2}" for i in unit],
        "year": [f"t{i}" for i in np.concatenate([np.arange(s) for s in sizes])],
        "z": rng.normal(size=n), "w": rng.uniform(0.3, 3, n), "c": rng.integers(0, 5, n),
    })  # fmt: skip
    frame["x"] = rng.normal(size=n) + 0.5 * frame.z + rng.normal(size=len(sizes))[unit]
    slope = rng.choice([0.2, 2.0])
    frame["y"] = slope * frame.x + frame.z + rng.normal(size=n) + 2 * rng.normal(size=6 + 1)[unit]
    text, more = "y ~ x + z", {}
    if kind.startswith("HC"):
        more["vcov"] = kind
    elif kind == "cluster":
        more["vcov"] = {"CRV1": "c"}
    elif kind == "groups, HC3":
        text, more = "y ~ x + z + C(unit)", {"vcov": "HC3", "groups": "unit"}
    elif kind == "dummies":
        text, more = "y ~ x + z + C(state)", {"vcov": {"CRV1": "state"}}
    elif kind == "groups":
        more |= {"vcov": {"CRV1": "unit"}, "groups": "unit"}
    else:
        text += " | unit + year" if kind == "two effects" else " | unit"
        more["vcov"] = {"CRV1": "state" if kind == "states" else "unit"}
    if kind == "groups, HC3":
        frame = frame.loc[frame.index.repeat(2)].reset_index(drop=True)
        frame["x"] += rng.normal(size=len(frame))
        frame["y"] += frame.x + rng.normal(size=len(frame))
    if not panel and kind != "groups" and seed % 3 == 0:
        more["weights"] = "w"
    if not panel and seed % 4 == 0:  # as statsmodels has it: other factors, normal p-values
        kwds = {"cov_kwds": {"groups": frame.c.to_numpy()}} if kind == "cluster" else {}
        name = more.pop("vcov")
        if kind == "groups":
            kwds = {"cov_kwds": {"groups": frame.unit.to_numpy()}}
        more |= {"cov_type": name if kind.startswith("HC") else "cluster", **kwds}
    return frame, text, more


def check(seed: int) -> Counter[str]:
    """What was found out about one instance: refuted, found, open; or wrong, and why."""
    frame, text, more = asked(seed)
    counts: Counter[str] = Counter()
    for claim in ("significance", "reverse"):
        ask = {"term": "x", "claim": claim, "time_limit": 0.01, "n_jobs": 1, **more}
        try:
            before = qs.audit(text, frame, **ask)
        except ValueError:
            return counts
        for case in before.problems:
            if isinstance(case, RobustProblem) and ScoreSearch.handles(case):
                for most in (1, 2):
                    counts.update(at_the_edge(text, frame, ask, case, most))
    return counts


def p_values(case: RobustProblem, most: int) -> list[tuple[float, float]]:
    """p-values and t of all removals of up to so many units."""
    design, found = case.regression or case.moments.design, []
    for m in range(1, most + 1):
        for units in combinations(range(design.size), m):
            fit = fit_term(design, design.kept(np.array(units, dtype=np.int64)), case.errors)
            if fit.freedom >= 1 and np.isfinite(fit.t) and fit.se > 1e-7:
                found.append((fit.p_value, fit.t))
    return found


def at_the_edge(
    text: str, frame: pd.DataFrame, ask: dict[str, Any], case: RobustProblem, most: int
) -> Counter[str]:
    """Asked with levels just below and above the extreme p-value."""
    side, counts = case.test.side, Counter[str]()
    found = p_values(case, most)
    p = [p for p, t in found if side == 0 or t * side > 0]
    if not p:
        return counts
    edge = max(p) if side == 0 else min(p)
    for factor in (1 - CLOSE, 1 + CLOSE):
        level = edge * factor
        if not 1e-6 < level < 0.9:
            continue
        again = qs.audit(text, frame, **ask, level=level)
        cases = [c for c in again.problems if isinstance(c, RobustProblem)]
        for same in (c for c in cases if c.test.side == side and ScoreSearch.handles(c)):
            try:
                decision = ScoreSearch(same, Resources(np.inf)).decide(1, most, 20.0)
            except OutOfPatience:
                counts["impatient"] += 1
                continue
            units = range(same.moments.design.size)
            sizes = range(1, most + 1)
            truth = any(
                same.broken(np.array(u, dtype=np.int64)) for m in sizes
                for u in combinations(units, m)
            )  # fmt: skip
            what = "refuted" if decision.refuted else "open"
            if decision.removal is not None:
                what = "found" if same.broken(decision.removal) else "wrong: found"
            elif decision.refuted and truth:
                what = f"wrong: refuted at {level!r}, {ask}"
            counts[f"{what} ({'breaks' if truth else 'holds'})"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instances", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_const", const=5, dest="instances")
    given = parser.parse_args()
    begin = time.perf_counter()
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for seed in range(given.seed, given.seed + given.instances):
        counts = check(seed)
        kinds[KINDS[seed % len(KINDS)]].update(counts)
        for what in counts:
            if "wrong" in what:
                print(f"seed {seed}: {what}", flush=True)
    for kind, counts in kinds.items():
        print(f"{kind:12} {dict(counts)}")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
