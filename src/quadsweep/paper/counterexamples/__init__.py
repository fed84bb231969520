"""Point sets whose best subset no conic of the expected kind cuts off.

``verify()`` proves each shipped one from its integers alone. Imports separability and the lifts.
"""

from quadsweep.paper.counterexamples.proof import Counterexample, CounterexampleProof, verify
from quadsweep.paper.counterexamples.shipped import SHIPPED

__all__ = ["SHIPPED", "Counterexample", "CounterexampleProof", "verify"]
