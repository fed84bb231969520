"""The counterexamples that come with the package, as integers. Nothing else is kept of them."""

from __future__ import annotations

from quadsweep.paper.counterexamples.proof import Counterexample

SHIPPED: tuple[Counterexample, ...] = (
    Counterexample(
        name="nonseparable-r2",
        objective="r2",
        lifts=("L5",),
        points=(
            (-149, -170), (-87, -120), (25, -29), (75, 147), (118, 300), (81, -255),
            (84, -246), (123, -163), (143, -136), (162, -116), (182, -99),
        ),
        inliers=(0, 1, 2, 3, 4, 5, 7, 9),
    ),
    Counterexample(
        name="nonseparable-dv",
        objective="dv",
        lifts=("L3d", "L4"),
        points=(
            (40, -4), (-44, -8), (48, -4), (-53, -11), (-15, 17), (-6, 10), (6, 10), (15, 17),
        ),
        inliers=(0, 1, 2, 3, 5, 7),
    ),
    Counterexample(
        name="nonseparable-cov",
        objective="cov",
        lifts=("L3c",),
        points=(
            (18, 22), (-26, -18), (22, 26), (-32, -21), (1, -16), (2, -8), (8, -2), (16, -1),
        ),
        inliers=(0, 1, 2, 3, 5, 7),
    ),
)  # fmt: skip
