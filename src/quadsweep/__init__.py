"""Which k of n points have the highest R2, exactly and with a certificate.

>>> import quadsweep as qs
>>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).outliers
array([2])
"""

from quadsweep import datasets
from quadsweep.audit import Audit, audit
from quadsweep.batch import BatchResult, solve_many
from quadsweep.compare import Comparison, compare
from quadsweep.conic import Conic
from quadsweep.custom import naive_sweep
from quadsweep.influence import InfluenceCurve, influence_curve
from quadsweep.pairwise import PairwiseResult, pairwise
from quadsweep.path import Path, path
from quadsweep.path_significance import PathSignificance
from quadsweep.result import Result
from quadsweep.separability import Separation, separate
from quadsweep.significance import Significance, significance
from quadsweep.solve import solve
from quadsweep.stability import Stability, stability

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "BatchResult",
    "Comparison",
    "Conic",
    "InfluenceCurve",
    "PairwiseResult",
    "Path",
    "PathSignificance",
    "Result",
    "Separation",
    "Significance",
    "Stability",
    "__version__",
    "audit",
    "compare",
    "datasets",
    "influence_curve",
    "naive_sweep",
    "pairwise",
    "path",
    "separate",
    "significance",
    "solve",
    "solve_many",
    "stability",
]
