"""By how much a time limit is overrun: every question, asked with a limit that it cannot keep.

    python benchmarks/limits.py
    python benchmarks/limits.py --limit 0.3 --quick
    python benchmarks/limits.py --only audit

Each line has the seconds on the clock and of the processor beyond the limit; on a busy machine the
second are the ones that count, with one thread of the linear algebra (OPENBLAS_NUM_THREADS=1), for
threads that wait are counted as well. Set-up is included: the clock starts with the call. What the
first calls of a process import is not: small questions are asked before. "late" is what
took more than a tenth of the limit and more than half a second beyond it, by both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import quadsweep as qs

Question = tuple[str, Callable[..., Any]]


def plane(n: int, p: int) -> tuple[Any, Any]:
    """Predictors and a response with a fifth of bad rows."""
    rng = np.random.default_rng([n, p])
    X = rng.normal(size=(n, p))
    y = X.sum(axis=1) + rng.normal(size=n)
    y[: n // 5] += 5 * rng.normal(size=n // 5)
    return X, y


def solving(scale: int) -> Iterator[Question]:
    for n, p, method in (
        (1_000_000, 3, "certified"), (200_000, 8, "concentrate"), (20_000, 30, "auto"),
        (400, 5, "certified"), (40, 8, "exhaustive"), (1_000_000, 1, "certified"),
    ):  # fmt: skip
        n = n // scale if n > 1000 else n
        X, y = plane(n, p)
        for objective in ("r2", "lts"):
            yield (
                f"solve {method}, {n:,} x {p}, {objective}",
                lambda X=X, y=y, method=method, objective=objective, **limits: qs.solve(
                    X if X.shape[1] > 1 else X[:, 0], y, 0.8, method=method, objective=objective,
                    **limits,
                ),
            )  # fmt: skip


def choosing(scale: int) -> Iterator[Question]:
    X, y = plane(20_000 // scale, 2)
    x = X[:, 0]
    yield "path", lambda **limits: qs.path(x, y, **limits)
    yield "path, 2 predictors", lambda **limits: qs.path(X, y, **limits)
    yield (
        "significance",
        lambda **limits: qs.significance(x, y, 0.8, permutations=999, **limits),
    )
    yield "stability", lambda **limits: qs.stability(x, y, 0.8, **limits)


def auditing(scale: int) -> Iterator[Question]:
    X, y = plane(1_000_000 // scale, 2)
    x = X[:, 0]
    for claim in ("sign", "significance"):
        yield (
            f"audit {claim}, {len(y):,} rows",
            lambda claim=claim, **limits: qs.audit(x, y, claim=claim, **limits),
        )
    for n, controls in ((200_000, 4), (5_000, 30), (2_000, 200), (3_000, 500)):
        if n * controls > 5 * 10**6 // scale:
            continue
        Z, z = plane(n, controls + 1)
        for claim in ("sign", "significance"):
            yield (
                f"audit {claim}, {n:,} x {controls} controls",
                lambda Z=Z, z=z, claim=claim, **limits: qs.audit(
                    Z[:, 0], z, controls=Z[:, 1:], claim=claim, **limits
                ),
            )
    Z, z = plane(2_000, 2)
    dummies = np.eye(200)[np.arange(2_000) % 200][:, 1:]
    yield (
        "audit sign, 200 dummies",
        lambda **limits: qs.audit(Z[:, 0], z, controls=dummies, **limits),
    )
    for name in ("voting-rights", "red-wine"):
        data = qs.datasets.load(name)
        for claim in ("sign", "significance"):
            yield (
                f"audit {claim}, {name}",
                lambda data=data, claim=claim, **limits: qs.audit(
                    data.formula, data=data.table, term=data.term, claim=claim, **limits
                ),
            )


def with_approximations(found: Any) -> Any:
    """What a summary shows beside an audit, which counts as well."""
    return found.approximations if hasattr(found, "approximations") else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--limit", type=float, default=1.0, help="seconds")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    parser.add_argument("--only", default="", help="questions with this in their name")
    given = parser.parse_args()
    print(f"{'question':44s}{'status':>14s}{'overrun':>10s}{'processor':>11s}{'summary':>10s}")
    scale = 100 if given.quick else 1
    imported()
    for kind in (solving, choosing, auditing):
        for name, ask in kind(scale):
            if given.only in name:
                report(name, ask, given.limit)
    return 0


def imported() -> None:
    """What questions import when they are first asked."""
    X, y = plane(60, 2)
    qs.solve(X, y, 0.8)
    qs.path(X[:, 0], y)
    qs.audit(X[:, 0], y, controls=X[:, 1:], claim="significance").summary()


def report(name: str, ask: Callable[..., Any], limit: float) -> None:
    start, work = time.perf_counter(), time.process_time()
    found = ask(time_limit=limit, n_jobs=1)
    gone, worked = time.perf_counter() - start, time.process_time() - work
    work = time.process_time()
    with_approximations(found)
    after = time.process_time() - work
    over = [f"{max(t - limit, 0.0):.2f}" for t in (gone, worked)]
    late = "  late" if min(gone, worked) - limit > max(limit / 10, 0.5) else ""
    status = str(np.ravel(getattr(found, "status", ""))[-1])
    print(f"{name:44s}{status:>14s}{over[0]:>10s}{over[1]:>11s}{after:>10.2f}{late}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
