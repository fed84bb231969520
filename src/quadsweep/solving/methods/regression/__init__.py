"""The methods for multiple regression: the same names, one algorithm a file, p + 1 columns.

Imports the problem and what everyone shares: `quadsweep.least_squares` has the one rule for subsets
on which predictors depend on each other.
"""

from quadsweep.blas import one_thread
from quadsweep.solving.methods.problem import Method
from quadsweep.solving.methods.regression.certified import certified, quickly
from quadsweep.solving.methods.regression.concentrate import concentrate
from quadsweep.solving.methods.regression.exhaustive import exhaustive

METHODS: dict[str, Method] = {
    "certified": one_thread()(certified),
    "exhaustive": exhaustive,
    "concentrate": one_thread()(concentrate),
    "bounded": one_thread()(quickly),  # what auto takes beyond the predictors that are searched
}
