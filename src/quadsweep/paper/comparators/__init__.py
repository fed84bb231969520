"""What others do with the same points, one function a method, and `compare`, which tells all.

Imports solving and all below it; the libraries behind a method only when it runs.
"""

from quadsweep.paper.comparators.estimates import (
    ANNEALING_STEPS,
    COMPARATORS,
    Estimate,
    anneal_fair,
    anneal_published,
    biweight,
    exact_mcd,
    kendall,
    lts,
    mcd,
    of_subset,
    pearson,
    quadrant,
    r2_of,
    ransac,
    spearman,
    theil_sen,
)

__all__ = [
    "ANNEALING_STEPS",
    "COMPARATORS",
    "Estimate",
    "anneal_fair",
    "anneal_published",
    "biweight",
    "exact_mcd",
    "kendall",
    "lts",
    "mcd",
    "of_subset",
    "pearson",
    "quadrant",
    "r2_of",
    "ransac",
    "spearman",
    "theil_sen",
]
