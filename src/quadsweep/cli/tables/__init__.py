"""Tables from files: delimited text, JSON lines, what pandas or Arrow read; and the built-in ones.

A table is opened first, which reads its names and some rows; only the columns chosen from those are
then read in full, so that a long file costs the memory of what is asked of it. Imports only the
inputs, the data sets, `options` and `ending`; nothing in here knows what the columns are for.
"""

from quadsweep.cli.options import FileOptions
from quadsweep.cli.tables.opening import SourceTable, built_in_table, open_table

__all__ = ["FileOptions", "SourceTable", "built_in_table", "open_table"]
