"""Can a surface of the lift cut a subset off? Decided exactly, and swept over any lift.

Imports solving, inputs and the lifts. Certificates are rational; nothing in here trusts a float.
"""

from quadsweep.paper.separability.hulls.distance import HullDistances as HullDistances
from quadsweep.paper.separability.hulls.distance import hull_distance as hull_distance
from quadsweep.paper.separability.separate import Separation as Separation
from quadsweep.paper.separability.separate import separate as separate
