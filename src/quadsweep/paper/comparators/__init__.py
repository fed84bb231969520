"""What others do with the same points, one function a method, and `compare`, which tells all.

Imports solving and all below it; the libraries behind a method only when it runs.
"""

from quadsweep.paper.comparators.estimates import COMPARATORS, Estimate

__all__ = ["COMPARATORS", "Estimate"]
