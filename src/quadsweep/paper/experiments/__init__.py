"""The paper's experiments: every table and figure, at its scale, on any number of machines.

=============  =====================================================================
module         what it does
=============  =====================================================================
randomness     the data of a trial from its number
scale          how many trials of what: quick or paper
runner         chunks -> workers -> store (`quadsweep.distributed`); tables
table1         separability by objective and lift
table2         success and R2 ratio by method
timing         seconds by method and n
figures        the lift and the decision boundaries
campaign       from chunks to files, for ``quadsweep reproduce``
=============  =====================================================================

Imports anything but the
command line and the report. Has no method of its own: what it measures is what users call.
"""
