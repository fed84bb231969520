"""One algorithm a file; each is a function from a Problem to an Outcome.

=============  ==========================================  ======================
method         what its answer is                          cost
=============  ==========================================  ======================
certified      the best subset, proved                     box after box, near n
exhaustive     the best of all subsets                     C(n, k)
naive          the paper's sweep, every d-tuple            n^(d+1) log n
sweep          the best separable subset                   n^d log n
concentrate    a good subset, no proof                     n per step
univariate     the best subset for ``var``                 n log n
=============  ==========================================  ======================

``problem`` is what they are given and what they give back, ``choice`` picks one; ``batch`` asks
about many data sets and ``spreading`` sends these elsewhere. Where there are several predictors,
weights or no intercept, ``regression`` has the same names. Imports ``inputs``, ``distributed``, the
compiled core and what everyone shares. Never checks its arguments: ``inputs`` has.
"""

from quadsweep.solving.methods import regression
from quadsweep.solving.methods.certified import certified
from quadsweep.solving.methods.concentrate import concentrate
from quadsweep.solving.methods.exhaustive import exhaustive
from quadsweep.solving.methods.naive import naive
from quadsweep.solving.methods.problem import Method, Outcome, Problem
from quadsweep.solving.methods.sweep import sweep
from quadsweep.solving.methods.univariate import univariate

METHODS: dict[str, Method] = {
    "certified": certified,
    "exhaustive": exhaustive,
    "naive": naive,
    "sweep": sweep,
    "concentrate": concentrate,
    "univariate": univariate,
}


def run(name: str, problem: Problem) -> Outcome:
    """The method of that name, for one predictor or for several."""
    return (regression.METHODS if problem.several else METHODS)[name](problem)


__all__ = ["METHODS", "Method", "Outcome", "Problem", "run"]
