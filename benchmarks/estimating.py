"""HC1 significance with 0 to 2 controls, and a logit's sign (the last line): processor time.

    python benchmarks/estimating.py [--quick | --published]

y = slope x + controls + noise, normal; the slope is such that a few per cent of the rows suffice.
An interval is what a limit on time left. ``--published``: the cases of applied economics, rows one
by one: the wage panel of linearmodels clustered by person, and simulated tables whose noise grows
with the term; "known" are rows that are known to suffice, and everything is timed by the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
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


Case = tuple[str, int, tuple[Any, ...], dict[str, Any]]


def wage_panel() -> Iterator[Case]:
    """Name, rows known to suffice, what is audited and how; clustered by person."""
    with needed("the wage panel"):
        from linearmodels.datasets import wage_panel as source
    frame = source.load().astype({"year": int})
    asked = {"vcov": {"CRV1": "nr"}, "claim": "significance"}
    for term, others, effects, known in (
        ("union", "married + expersq", "nr", 15),
        ("union", "married + expersq + hours", "nr", 13),
        ("married", "union + expersq", "nr", 40),
        ("union", "married + expersq", "nr + year", 16),
        ("married", "union + expersq", "nr + year", 2),
    ):
        text = f"lwage ~ {term} + {others} | {effects}"
        yield text, known, (text, frame), {"term": term, **asked}


def simulated() -> Iterator[Case]:
    """The same of tables, some of whose columns are dummies."""
    for n, q, dummies, slope in ((420, 3, 0, 0.32), (534, 16, 8, 0.2), (20_000, 3, 0, 0.05)):
        rng = np.random.default_rng([n, q])
        z = rng.normal(size=(n, q - 1))
        z[:, :dummies] = rng.random((n, dummies)) < 0.3
        x = rng.normal(size=n) + z.sum(axis=1) / (2 * q)
        y = slope * x + z.sum(axis=1) + rng.normal(size=n) * (0.5 + 0.5 * abs(x))
        clusters = np.arange(n) % (200 if n > 1_000 else 60)
        for vcov in ("HC1", "HC2", "HC3", clusters):
            name = f"{n:,} x {q}, {vcov if isinstance(vcov, str) else 'clusters'}"
            yield name, 0, (x, y), {"controls": z, "vcov": vcov, "claim": "significance"}


def published(limit: float) -> None:
    print(f"{'regression':46} {'known':>5} {'lower':>5} {'upper':>5} {'nodes':>7} {'seconds':>7}")
    for name, known, of, asked in (*wage_panel(), *simulated()):
        start = time.perf_counter()
        found = qs.audit(*of, n_jobs=1, time_limit=limit, **asked)
        seconds = time.perf_counter() - start
        print(f"{name:46} {known or '':>5} {found.lower:5} {found.upper or '':>5} "
              f"{found.nodes:7,} {seconds:7.1f}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 rows, five seconds each")
    parser.add_argument("--published", action="store_true", help="cases of applied economics")
    parser.add_argument("--time-limit", type=float, default=120.0)
    given = parser.parse_args()
    if given.quick:
        given.time_limit = 5.0
    if given.published:
        published(given.time_limit)
        return
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
