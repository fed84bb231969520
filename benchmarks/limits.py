"""By how much a time limit is overrun: every question, asked with a limit that it cannot keep.

    python benchmarks/limits.py
    python benchmarks/limits.py --limit 0.3 --quick

Each line has the seconds on the clock and of the processor beyond the limit; on a busy machine the
second are the ones that count. Set-up is included: the clock starts with the call.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import quadsweep as qs

Question = tuple[str, Callable[[float], Any]]


def plane(n: int, p: int) -> tuple[Any, Any]:
    """Predictors and a response with a fifth of bad rows."""
    rng = np.random.default_rng([n, p])
    X = rng.normal(size=(n, p))
    y = X.sum(axis=1) + rng.normal(size=n)
    y[: n // 5] += 5 * rng.normal(size=n // 5)
    return X, y


def questions(scale: int) -> Iterator[Question]:
    for n, p, method in (
        (1_000_000, 3, "certified"), (200_000, 8, "concentrate"), (20_000, 30, "auto"),
        (400, 5, "certified"), (40, 8, "exhaustive"), (1_000_000, 1, "certified"),
    ):  # fmt: skip
        n = n // scale if n > 1000 else n
        X, y = plane(n, p)
        for objective in ("r2", "lts"):
            yield (
                f"solve {method}, {n:,} x {p}, {objective}",
                lambda limit, X=X, y=y, method=method, objective=objective: qs.solve(
                    X if X.shape[1] > 1 else X[:, 0], y, 0.8, method=method, objective=objective,
                    time_limit=limit, n_jobs=1,
                ),
            )  # fmt: skip
    X, y = plane(20_000 // scale, 2)
    x = X[:, 0]
    yield "path", lambda limit: qs.path(x, y, time_limit=limit, n_jobs=1)
    yield "path, 2 predictors", lambda limit: qs.path(X, y, time_limit=limit, n_jobs=1)
    yield (
        "significance",
        lambda limit: qs.significance(x, y, 0.8, permutations=999, time_limit=limit, n_jobs=1),
    )
    yield "stability", lambda limit: qs.stability(x, y, 0.8, time_limit=limit, n_jobs=1)
    yield "audit", lambda limit: qs.audit(x, y, time_limit=limit, n_jobs=1)
    yield (
        "audit, significance",
        lambda limit: qs.audit(x, y, claim="significance", time_limit=limit, n_jobs=1),
    )
    yield "influence_curve", lambda limit: qs.influence_curve(x, y, time_limit=limit, n_jobs=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--limit", type=float, default=1.0, help="seconds")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    parser.add_argument("--only", default="", help="questions with this in their name")
    given = parser.parse_args()
    print(f"{'question':44s}{'status':>14s}{'overrun':>10s}{'processor':>11s}")
    for name, ask in questions(100 if given.quick else 1):
        if given.only not in name:
            continue
        start, work = time.perf_counter(), time.process_time()
        found = ask(given.limit)
        gone, worked = time.perf_counter() - start, time.process_time() - work
        over = [f"{max(t - given.limit, 0.0):.2f}" for t in (gone, worked)]
        status = str(getattr(found, "status", ""))
        print(f"{name:44s}{status:>14s}{over[0]:>10s}{over[1]:>11s}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
