"""What an interior point method returns for subsets that no plane of L4 separates.

The paper's table 1 has r and R2 separable under L4 in 32.6% and 21.6% of its trials: the squared
distance of the hulls was above a threshold. The exact shares are far smaller. This solves the same
quadratic program with Ipopt. If the hulls meet, the minimum is 0, so a value above the threshold is
the error at which the method stopped. Needs casadi.

    python docs/studies/stopping_error.py DIRECTORY [TRIALS]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from quadsweep import lifts
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.runner import TextTable, write
from quadsweep.paper.experiments.table1 import KEPT, N_POINTS, PAPER
from quadsweep.paper.separability.hulls.exact import decide
from quadsweep.solving.many import solve_many

TOLERANCES = (1e-8, 1e-6)  # of Ipopt; the first is its default
THRESHOLDS = (1e-10, 1e-12, 3e-13, 1e-13)


def hull_program(tolerance: float) -> Any:
    """Return Ipopt's solver of min |sum a_i z_i - sum b_j w_j|^2, sum a = sum b = 1, a, b >= 0."""
    weights = casadi.SX.sym("weights", N_POINTS)
    lifted = casadi.SX.sym("lifted", lifts.dimension("L4"), N_POINTS)
    a, b = weights[:KEPT], weights[KEPT:]
    gap = lifted[:, :KEPT] @ a - lifted[:, KEPT:] @ b
    sums = casadi.vertcat(casadi.sum1(a), casadi.sum1(b))
    program = {"x": weights, "p": casadi.vec(lifted), "f": casadi.dot(gap, gap), "g": sums}
    quiet = {"print_level": 0, "sb": "yes", "tol": tolerance}
    return casadi.nlpsol("hulls", "ipopt", program, {"print_time": False, "ipopt": quiet})


def main(directory: str, trials: str = "1000") -> None:
    programs = [hull_program(tolerance) for tolerance in TOLERANCES]
    x, y = randomness.trials(0, int(trials), N_POINTS)
    rows = []
    for objective in ("r", "r2"):
        best = solve_many(x, y, k=KEPT, objective=objective, method="exhaustive").masks
        instances = list(zip(x, y, best, strict=True))
        exact = np.mean([decide(u, v, m, "L4").separable for u, v, m in instances])
        lifted = [(lifts.get("L4")(u, v), m) for u, v, m in instances]
        ordered = [np.concatenate([p[m], p[~m]]).ravel() for p, m in lifted]
        even = np.repeat([1 / KEPT, 1 / (N_POINTS - KEPT)], [KEPT, N_POINTS - KEPT])
        for tolerance, solver in zip(TOLERANCES, programs, strict=True):
            limits = {"lbx": 0.0, "ubx": np.inf, "lbg": 1.0, "ubg": 1.0}
            values = np.array([float(solver(x0=even, p=p, **limits)["f"]) for p in ordered])
            shares = (f"{(values > threshold).mean():.3f}" for threshold in THRESHOLDS)
            paper = PAPER[objective, "L4"].success
            title = OBJECTIVES[objective].title
            rows.append([title, f"{paper:.3f}", f"{exact:.3f}", f"{tolerance:g}", *shares])
    columns = ["Objective", "paper", "Exactly separable", "Ipopt's tolerance"]
    table = TextTable(
        f"Separable under L4, and above a threshold where Ipopt stops (N = {int(trials):,})",
        [*columns, *(f"> {threshold:g}" for threshold in THRESHOLDS)],
        rows,
        [
            f"The best {KEPT} of {N_POINTS} points. Exactly separable: decided in rational "
            "arithmetic. `> t`: the share of squared distances above t, as Ipopt returns them.",
            "Made by `python docs/studies/stopping_error.py DIRECTORY`.",
        ],
    )
    title = "The error at which an interior point method stops"
    print(write([table], Path(directory), "stopping-error", title))


if __name__ == "__main__":
    main(*sys.argv[1:])
