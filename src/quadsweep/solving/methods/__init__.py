"""The methods; each is a function from a Problem to an Outcome, with its theory in ``_core``.

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

Of ``tv``, ``var``, ``lts`` and ``mcd`` some best subset is separable. Of the other objectives that
is the paper's conjecture, which fails on rare data, and planes turned in floating point prove
nothing about points that nearly coincide: the status of ``sweep`` is ``best_separable``.

``problem`` is what they are given and what they give back, and picks one; ``certified`` has further
forms of the search; ``batch`` asks about many data sets and ``parallel_batches`` sends
these elsewhere. Where there are several predictors, weights or no intercept, ``regression`` has
the same names. Imports ``inputs``, ``distributed``, the compiled core and what everyone shares.
Never checks its arguments: ``inputs`` has.
"""

from functools import partial

from quadsweep.solving.methods.problem import Method, Outcome, Problem, compiled

METHODS: dict[str, Method] = {
    name: partial(compiled, name)
    for name in ("certified", "exhaustive", "naive", "sweep", "concentrate", "univariate")
}


__all__ = ["METHODS", "Method", "Outcome", "Problem"]
