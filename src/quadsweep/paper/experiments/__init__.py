"""The paper's experiments: every table and figure, at its scale, on any number of machines.

=============  =====================================================================
module         what it does
=============  =====================================================================
randomness     the data of a trial from its number
scale          how many trials of what: quick or paper
runner         chunks -> workers -> store (`quadsweep.distributed`); tables
table1         separability by objective and lift
table2         success and R2 ratio by method
readings       what the paper's R2 ratios of RANSAC and Theil-Sen may mean
timing         seconds by method and n
figures        the lift and the decision boundaries
campaign       from chunks to files, for ``quadsweep reproduce``
published      the naive sweep to the letter of the paper's pseudocode
=============  =====================================================================

Studies that run by themselves: ``stopping_error`` (what an interior point method says where no
plane of L4 separates) and ``separability_rate``. Imports anything but the
command line and the report. Has no method of its own: what it measures is what users call.
"""
