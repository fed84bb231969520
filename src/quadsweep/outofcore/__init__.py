"""Larger than memory: the certified search in a few passes over the rows.

=============  =====================================================================
module         what it does
=============  =====================================================================
solve          the entry point: in memory where the rows fit, out of core where not
sources        Parquet, Arrow datasets, polars and dask as a list of parts to be read
work           what a pass does with some parts: a sample, sums by leaf, rows of leaves
held           rows of leaves that will probably be opened, brought along with the sums
running        a pass over all parts: threads, a cluster, finished parts on disk
search         plan, sums, search, rows, until nothing is left open
flags          which rows are kept: a decision by leaf, and the flag of every row
boundary       the conic between rows kept and rows left out, by one more pass
result         the answer
=============  =====================================================================

May import ``inputs``, ``results``, ``distributed`` and ``_core``; is imported by ``solving``,
``choosing`` and ``auditing``.
"""
