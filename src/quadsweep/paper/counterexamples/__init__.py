"""Point sets whose best subset no conic of the expected kind cuts off.

``verify()`` proves each shipped one from its integers alone; ``search()`` finds new ones.
Imports separability, methods and the lifts. What it finds is proved in whole numbers.
"""

from quadsweep.paper.counterexamples.proof import Counterexample, Proof, verify
from quadsweep.paper.counterexamples.search import search
from quadsweep.paper.counterexamples.shipped import SHIPPED

__all__ = ["SHIPPED", "Counterexample", "Proof", "search", "verify"]
