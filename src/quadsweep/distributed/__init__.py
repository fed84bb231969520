"""Work in chunks, on any number of machines, finished ones on disk before they count.

=============  =====================================================================
module         what it does
=============  =====================================================================
store          finished chunks on disk, checked when read
workers        one by one, threads, processes, joblib's backend or a dask cluster
runner         chunks that are not finished yet -> workers -> store
=============  =====================================================================

Imports nothing of the package but the version and the names of extras: knows nothing of what is
computed.
"""
