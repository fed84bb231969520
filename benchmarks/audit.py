"""How long an audit takes, beside the approximations it replaces.

    python benchmarks/audit.py [--quick]
    python benchmarks/audit.py --many [1e6]

Noise with a correlation of exactly 0.1 in the sample; also rounded, as answers from 1 to 5, and
with heavy tails. On each line the audit and the approximations are timed in turn in one process,
the best of several; greedy removal stops at its own answer, or gives up. With ``--many``, every
claim about so many rows, on several families, beside the proof of the best subset of as many rows,
by the processor's time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import quadsweep as qs

Floats = NDArray[np.float64]


def noise(n: int, seed: int = 0, r: float = 0.1) -> tuple[Floats, Floats]:
    """Normal columns whose sample correlation is r."""
    rng = np.random.default_rng(seed)
    x, e = rng.normal(size=(2, n))
    x = (x - x.mean()) / x.std()
    e -= e.mean()
    e -= (e @ x) / (x @ x) * x
    return x, r * x + np.sqrt(1 - r * r) * e / e.std()


def rounded(n: int) -> tuple[Floats, Floats]:
    x, y = noise(n)
    return x.round(1), y.round(1)


def likert(n: int) -> tuple[Floats, Floats]:
    """Answers from 1 to 5: 25 different points at most."""
    x, y = noise(n)
    return tuple(np.clip(np.round(3 + v), 1, 5) for v in (x, y))  # type: ignore[return-value]


def heavy(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    x, e = rng.standard_t(3, size=(2, n))
    return x, 0.1 * x + e


@dataclass(frozen=True)
class Line:
    name: str
    data: Callable[[int], tuple[Floats, Floats]]
    n: int
    claim: str
    asked: str = ""  # seconds within which it should be done


LINES = [
    Line("normal", noise, 1_000, "sign", "2"),
    Line("normal", noise, 1_000, "significance", "10"),
    Line("normal", noise, 1_000, "reverse"),
    Line("rounded to 0.1", rounded, 1_000, "sign"),
    Line("rounded to 0.1", rounded, 1_000, "significance"),
    Line("1 to 5", likert, 5_000, "sign"),
    Line("1 to 5", likert, 5_000, "significance"),
    Line("heavy tails", heavy, 5_000, "sign"),
    Line("heavy tails", heavy, 5_000, "significance"),
    Line("normal", noise, 100_000, "sign", "60"),
    Line("normal", noise, 100_000, "significance"),
    Line("rounded to 0.1", rounded, 100_000, "sign"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, once each")
    parser.add_argument("--many", type=float, nargs="?", const=1e6, help="rows, for every claim")
    given = parser.parse_args()
    quick = given.quick
    if given.many is not None:
        of_many_rows(int(given.many))
        return
    print(
        f"{'data':<16}{'n':>8}  {'claim':<13}{'least':>6}{'greedy':>8}{'one-step':>10}"
        f"{'audit':>11}{'approx.':>11}{'ratio':>8}  asked"
    )
    for line in LINES:
        if not quick or line.n <= 1_000:
            report(line, rounds=1 if quick else 3)
    from audit_controls import run

    print("\nwith controls")
    run(quick, limit=60.0)


def uniform(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    x, e = rng.random((2, n))
    return x, 0.1 * x + e


def astray(n: int) -> tuple[Floats, Floats]:
    """A line with a fifth of the rows elsewhere."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x + 0.3 * rng.normal(size=n)
    wrong = rng.random(n) < 0.2
    y[wrong] = 3 * rng.normal(size=int(wrong.sum()))
    return x, y


def of_many_rows(n: int) -> None:
    """Every claim, and solve with as many rows dropped, in seconds of the processor."""
    print(f"{'data':<16}{'claim':<14}{'least':>9}{'audit':>9}{'solve':>9}{'ratio':>7}   {n:,} rows")
    for name, data in (
        ("normal", noise), ("line, outliers", astray), ("heavy tails", heavy),
        ("rounded to 0.1", rounded), ("uniform", uniform),
    ):  # fmt: skip
        x, y = data(n)
        r = float(np.corrcoef(x, y)[0, 1])
        slope = r * float(y.std() / x.std())
        qs.audit(x[:1000], y[:1000])  # what is imported when it is needed
        for claim, threshold in (
            ("sign", None), ("significance", None), ("reverse", None), ("r2", 1.2 * r * r),
            ("r2", 0.8 * r * r), ("slope", (0.8 * slope, 1.2 * slope)),
        ):  # fmt: skip
            start = time.process_time()
            found = qs.audit(x, y, claim=claim, threshold=threshold, time_limit=300)
            middle = time.process_time()
            qs.solve(x, y, drop=found.upper or 1)
            took, best = middle - start, time.process_time() - middle
            least = f"{found.drop:,}" if found.success else f"{found.lower}..{found.upper}"
            print(
                f"{name:<16}{claim:<14}{least:>9}{took:>7.2f} s{best:>7.2f} s{took / best:>7.1f}",
                flush=True,
            )


def report(line: Line, rounds: int) -> None:
    x, y = line.data(line.n)
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        start = time.perf_counter()
        found = qs.audit(x, y, claim=line.claim, time_limit=300)
        middle = time.perf_counter()
        one_step, greedy = found.approximations
        best = [
            min(best[0], middle - start),
            min(best[1], time.perf_counter() - middle),
        ]
    least = str(found.drop) if found.success else f"{found.lower}..{found.upper}"
    print(
        f"{line.name:<16}{line.n:>8,}  {line.claim:<13}{least:>6}{greedy.needed or '-':>8}"
        f"{one_step.needed or '-':>10}{best[0]:>9.3f} s{best[1]:>9.3f} s"
        f"{best[1] / best[0]:>8.2f}  {line.asked and line.asked + ' s'}",
        flush=True,
    )


if __name__ == "__main__":
    main()
