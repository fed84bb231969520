"""What belongs to the paper that the package begins with (arXiv:2410.09316), in one place.

``experiments``      its tables, timings and figures again (``quadsweep reproduce``)
``counterexample_proofs``  data on which its conjecture fails, verified in rational arithmetic
``separability``     whether a conic separates two sets of points; the naive sweep for any lift
``compare``          the other methods of its tables and its introduction, beside the optimum

Imports solving, results, inputs and what everyone shares; the experiments also draw.
"""
