"""HC1 significance with 0 to 2 controls, and a logit's sign (the last line): processor time.

    python benchmarks/estimating.py [--quick | --published]

y = slope x + controls + noise, normal; the slope is such that a few per cent of the rows suffice.
An interval is what a limit on time left. ``--published``: the cases of applied economics, rows one
by one: the wage panel of linearmodels clustered by person, the table of pyfixest, and simulated
ones whose noise grows with the term; a table in Markdown, timed by the clock.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

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


Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def wage_panel() -> Iterator[Case]:
    """Name, what is audited and how; clustered by person."""
    with needed("the wage panel"):
        from linearmodels.datasets import wage_panel as source
    frame = source.load().astype({"year": int})
    asked = {"vcov": {"CRV1": "nr"}, "claim": "significance"}
    for term, others, effects in (
        ("union", "married + expersq", "nr"),
        ("union", "married + expersq + hours", "nr"),
        ("married", "union + expersq", "nr"),
        ("union", "married + expersq", "nr + year"),
        ("married", "union + expersq", "nr + year"),
    ):
        text = f"lwage ~ {term} + {others} | {effects}"
        yield text, (text, frame), {"term": term, **asked}


def fixest_data() -> Iterator[Case]:
    """The table of pyfixest's documentation, with one and two effects."""
    with needed("the table of pyfixest"):
        from pyfixest.utils.utils import get_data
    frame = get_data(N=1_000, seed=0).dropna()
    for effects in ("group_id", "group_id + f2"):
        text = f"Y ~ X1 + X2 | {effects}"
        asked = {"term": "X1", "vcov": {"CRV1": "group_id"}, "claim": "significance"}
        yield f"pyfixest, {text}", (text, frame), asked


def states() -> Iterator[Case]:
    """23 years of 51 states, clustered by state."""
    rng = np.random.default_rng([1_173, 9])
    state = np.arange(1_173) % 51
    z = rng.normal(size=(1_173, 8)) + rng.normal(size=(51, 8))[state]
    x = rng.normal(size=1_173) + z.sum(axis=1) / 16 + rng.normal(size=51)[state]
    y = 0.15 * x + z.sum(axis=1) / 2 + rng.normal(size=1_173) * (0.5 + 0.5 * abs(x))
    y += rng.normal(size=51)[state] * (1 + 0.1 * x)
    frame = pd.DataFrame({"y": y, "x": x, "state": state} | {f"z{j}": v for j, v in enumerate(z.T)})
    text = "y ~ x + " + " + ".join(f"z{j}" for j in range(8))
    asked = {"term": "x", "vcov": {"CRV1": "state"}, "claim": "significance"}
    yield "1,173 x 9, 51 clusters", (text, frame), asked
    yield "the same with an effect of each", (text + " | state", frame), asked


def event_study() -> Iterator[Case]:
    """294 units over 20 periods, half of them treated from the tenth on, with both effects."""
    rng = np.random.default_rng(5_880)
    unit, period = np.divmod(np.arange(5_880), 20)
    since = period - np.where(unit % 2 == 0, 10, 99)
    y = 0.25 * (since >= 0) + rng.normal(size=294)[unit] + 0.1 * period
    y += rng.normal(size=5_880) * (1 + 0.5 * (since >= 0))
    frame = pd.DataFrame({"y": y, "unit": unit, "period": period, "treated": since >= 0})
    leads = [v for v in range(-3, 4) if v != -1]
    for lead in leads:
        frame[f"at{lead}".replace("-", "m")] = since == lead
    asked = {"vcov": {"CRV1": "unit"}, "claim": "significance"}
    text = "y ~ treated | unit + period"
    yield "5,880 rows, two effects", (text, frame.astype(float)), {"term": "treated", **asked}
    text = "y ~ at0 + " + " + ".join(c for c in frame if c[:2] == "at" and c != "at0")
    text += " | unit + period"
    yield "the same, an event study", (text, frame.astype(float)), {"term": "at0", **asked}


def simulated() -> Iterator[Case]:
    """Tables some of whose columns are dummies."""
    for n, q, dummies, slope in ((420, 3, 0, 0.32), (534, 16, 8, 0.2), (20_000, 3, 0, 0.05)):
        rng = np.random.default_rng([n, q])
        z = rng.normal(size=(n, q - 1))
        z[:, :dummies] = rng.random((n, dummies)) < 0.3
        x = rng.normal(size=n) + z.sum(axis=1) / (2 * q)
        y = slope * x + z.sum(axis=1) + rng.normal(size=n) * (0.5 + 0.5 * abs(x))
        clusters = np.arange(n) % (200 if n > 1_000 else 60)
        for vcov in ("HC1", "HC2", "HC3", clusters):
            name = f"{n:,} x {q}, {vcov if isinstance(vcov, str) else 'clusters'}"
            yield name, (x, y), {"controls": z, "vcov": vcov, "claim": "significance"}


CASES = (wage_panel, fixest_data, states, event_study, simulated)


def measure(number: int, limit: float) -> str:
    """A row of the table: the number of a case, counted over all."""
    name, of, asked = [case for cases in CASES for case in cases()][number]
    start = time.perf_counter()
    found = qs.audit(*of, n_jobs=1, time_limit=limit, **asked)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    name = name.replace("|", "\\|")
    return (f"| {name} | {found.lower} | {found.upper or ''} | {seconds:.1f} | {memory:,.0f} | "
            f"{found.nodes:,} |")  # fmt: skip


def published(limit: float) -> None:
    """Print the table, each row from a process of its own, for its memory."""
    print("| regression | lower | upper | seconds | MiB | nodes |")
    print("|---|--:|--:|--:|--:|--:|")
    for number in range(sum(len(list(cases())) for cases in CASES)):
        command = [sys.executable, __file__, "--case", str(number), "--time-limit", str(limit)]
        subprocess.run(command, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 rows, five seconds each")
    parser.add_argument("--published", action="store_true", help="cases of applied economics")
    parser.add_argument("--case", type=int, help="one row of that table")
    parser.add_argument("--time-limit", type=float, default=120.0)
    given = parser.parse_args()
    if given.quick:
        given.time_limit = 5.0
    if given.case is not None:
        print(measure(given.case, given.time_limit), flush=True)
        return
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
