"""HC1 significance with 0 to 2 controls, and a logit's sign (the last line): processor time.

    python benchmarks/estimating.py [--quick]

y = slope x + controls + noise, normal; the slope is such that a few per cent of the rows suffice.
An interval is what a limit on time left.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import quadsweep as qs
from quadsweep.extras import needed


def regression(n: int, controls: int, seed: int = 0):
    rng = np.random.default_rng([n, controls, seed])
    z = rng.normal(size=(n, controls))
    x = rng.normal(size=n) + z.sum(axis=1) / 2
    slope = (2.0 + 4.0 * (n / 1000) ** 0.25) / np.sqrt(n)
    return x, slope * x + z.sum(axis=1) + rng.normal(size=n), z


def line(n: int, q: int, of: tuple[Any, ...], **asked: Any) -> None:
    start = time.process_time()
    found = qs.audit(*of, n_jobs=1, **asked)
    seconds = time.process_time() - start
    upper = "" if found.upper is None else found.upper
    print(f"{n:7,} {q:8} {found.lower:6} {upper:>6} {found.nodes:9,} {seconds:8.2f}",
          flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 rows, five seconds each")
    parser.add_argument("--time-limit", type=float, default=120.0)
    given = parser.parse_args()
    if given.quick:
        given.time_limit = 5.0
    print(f"{'rows':>7} {'controls':>8} {'lower':>6} {'upper':>6} {'boxes':>9} {'seconds':>8}")
    for n in (100,) if given.quick else (100, 1_000, 10_000):
        for controls in (0, 1, 2):
            x, y, z = regression(n, controls)
            line(n, controls, (x, y), controls=z if controls else None, vcov="HC1",
                 claim="significance", time_limit=given.time_limit)  # fmt: skip
    rows = 100 if given.quick else 1_000
    x, y, z = regression(rows, 3)
    with needed("the line of a logit"):
        import statsmodels.api as sm
    fitted = sm.Logit((y > 0).astype(float), np.column_stack([x, np.ones(rows), z])).fit(disp=0)
    line(rows, 3, (fitted,), term="x1", claim="sign", time_limit=given.time_limit)


if __name__ == "__main__":
    main()
