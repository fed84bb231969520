"""What an interior point method says about subsets that no plane of L4 separates.

The paper's table 1 has r and R2 separable under L4 in 32.6 % and 21.6 % of its trials, by the
squared distance of the hulls above a threshold. The exact shares are far smaller. This is the same
quadratic program,

    min |sum_i a_i z_i - sum_j b_j w_j|^2   over   a, b >= 0,   sum a = sum b = 1,

given to Ipopt, the interior point method, and the share of the values at which it stops that lie
above each of several thresholds, beside the exact share. Where hulls meet the minimum is 0, so what
is above a threshold there is the error at which the method stopped.

Run as (extra: quadsweep[ipopt])

    python -m quadsweep.paper.experiments.stopping_error --out DIRECTORY
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from quadsweep import lifts
from quadsweep.arrays import Floats
from quadsweep.distributed.store import Chunk, Columns
from quadsweep.extras import needed
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.runner import Results, TextTable, gather, split, study
from quadsweep.paper.experiments.table1 import KEPT, N_POINTS, PAPER
from quadsweep.paper.separability.hulls.exact import decide
from quadsweep.solving.many import solve_many

NAME = "stopping-error"
LIFT = "L4"
TRIED = ("r", "r2")
TRIALS = 1_000
CHUNK = 100
TOLERANCES = (1e-8, 1e-6)  # of Ipopt; the first is its default
THRESHOLDS = (1e-10, 1e-12, 3e-13, 1e-13)


def stopping_work(objective: str, first: int, count: int) -> Columns:
    """The exact answer and Ipopt's final value at each tolerance, for consecutive trials."""
    x, y = randomness.trials(first, count, N_POINTS)
    best = solve_many(x, y, k=KEPT, objective=objective, method="exhaustive", n_jobs=1).masks
    exact = [decide(x[t], y[t], best[t], LIFT).separable for t in range(count)]
    columns: Columns = {"exact": np.array([-1 if e is None else int(e) for e in exact], np.int8)}
    for tolerance in TOLERANCES:
        program = HullDistance(tolerance)
        columns[f"{tolerance:g}"] = np.array(
            [program.squared(x[t], y[t], best[t]) for t in range(count)]
        )
    return columns


class HullDistance:
    """The quadratic program of ten inliers and ten outliers, as Ipopt solves it.

    Examples
    --------
    >>> import numpy as np, pytest
    >>> _ = pytest.importorskip("casadi")
    >>> x, y = np.linspace(0, 1, 20), np.linspace(0, 1, 20) ** 3
    >>> HullDistance(1e-8).squared(x, y, np.arange(20) < 10) > 1e-4
    True
    """

    def __init__(self, tolerance: float) -> None:
        with needed("Ipopt"):
            import casadi

        dimension, others = lifts.dimension(LIFT), N_POINTS - KEPT
        weights = casadi.SX.sym("weights", N_POINTS)
        lifted = casadi.SX.sym("lifted", dimension, N_POINTS)
        a, b = weights[:KEPT], weights[KEPT:]
        gap = lifted[:, :KEPT] @ a - lifted[:, KEPT:] @ b
        program = {
            "x": weights,
            "p": casadi.vec(lifted),
            "f": casadi.dot(gap, gap),
            "g": casadi.vertcat(casadi.sum1(a), casadi.sum1(b)),
        }
        quiet: Any = {
            "print_time": False,
            "ipopt": {"print_level": 0, "sb": "yes", "tol": tolerance},
        }
        self._solver: Any = casadi.nlpsol("hulls", "ipopt", program, quiet)
        self._start = np.concatenate([np.full(KEPT, 1 / KEPT), np.full(others, 1 / others)])

    def squared(self, x: Floats, y: Floats, mask: Any) -> float:
        """The squared distance of the lifted hulls at which Ipopt stops."""
        lifted = lifts.get(LIFT)(x, y)
        ordered = np.concatenate([lifted[mask], lifted[~mask]])
        answer = self._solver(
            x0=self._start, p=ordered.ravel(), lbx=0.0, ubx=np.inf, lbg=1.0, ubg=1.0
        )
        return float(answer["f"])


def chunks(trials: int) -> list[Chunk]:
    pieces = (split(o, stopping_work, trials, CHUNK, objective=o) for o in TRIED)
    return list(chain.from_iterable(pieces))


def tables(results: Results, work: list[Chunk]) -> list[TextTable]:
    """Shares by objective and Ipopt's tolerance."""
    trials = sum(chunk.trials for chunk in work) // len(TRIED)
    rows = []
    for objective in TRIED:
        exact = gather(results, objective, "exact")
        for tolerance in TOLERANCES:
            values = gather(results, objective, f"{tolerance:g}")
            rows.append(
                [
                    OBJECTIVES[objective].title,
                    f"{PAPER[objective, LIFT].success:.3f}",
                    f"{(exact == 1).mean():.3f}",
                    f"{tolerance:g}",
                    *(f"{(values > threshold).mean():.3f}" for threshold in THRESHOLDS),
                ]
            )
    columns = ["Objective", "paper", "Exactly separable", "Ipopt's tolerance"]
    return [
        TextTable(
            f"Separable under {LIFT}, and above a threshold where Ipopt stops (N = {trials:,})",
            [*columns, *(f"> {threshold:g}" for threshold in THRESHOLDS)],
            rows,
            [
                f"The best {KEPT} of {N_POINTS} points. Exactly separable: decided in rational "
                "arithmetic. `> t`: the share of squared distances above t, as Ipopt returns them.",
                "Made by `python -m quadsweep.paper.experiments.stopping_error --out DIRECTORY`.",
            ],
        )
    ]


def main(arguments: list[str] | None = None) -> None:
    title = "The error at which an interior point method stops"
    study(__doc__, NAME, title, "trials", TRIALS, "of each objective", chunks, tables, arguments)


if __name__ == "__main__":
    main()
