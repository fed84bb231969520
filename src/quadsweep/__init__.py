"""Which k of n rows fit together best, and how few rows carry a conclusion: exactly, with proofs.

>>> import quadsweep as qs
>>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).outliers
array([2])

It begins with the quadratic sweep of Marc Harary, "Combinatorial optimization of the coefficient
of determination" (arXiv:2410.09316), and proves what the sweep assumes.
"""

from quadsweep import datasets
from quadsweep.auditing.audit import audit
from quadsweep.auditing.curves import CoefficientCurve, InfluenceCurve
from quadsweep.auditing.deletion import Influence, influence
from quadsweep.auditing.influence import influence_curve
from quadsweep.auditing.reference import Reference
from quadsweep.auditing.result import Audit, OutOfCoreAudit, RegressionAudit
from quadsweep.auditing.tables import AuditTable, audit_table
from quadsweep.choosing.in_passes import StreamedPath
from quadsweep.choosing.intervals import Bootstrap
from quadsweep.choosing.line_significance import LineSignificance
from quadsweep.choosing.pairwise import pairwise
from quadsweep.choosing.pairwise_result import PairwiseFiles, PairwiseResult
from quadsweep.choosing.path import Path, path
from quadsweep.choosing.path_significance import PathSignificance
from quadsweep.choosing.significance import Significance, significance
from quadsweep.choosing.stability import Stability, stability
from quadsweep.exploring import Explorer, explore
from quadsweep.groups import Groups, by
from quadsweep.outofcore.result import StreamedResult
from quadsweep.paper.comparators.compare import Comparison, compare
from quadsweep.paper.separability.lifted_sweep import naive_sweep
from quadsweep.paper.separability.separate import Separation, separate
from quadsweep.proofs.checking import Check, check
from quadsweep.proofs.proof import Proof
from quadsweep.results.conic import Conic
from quadsweep.results.result import Result
from quadsweep.solving.many import BatchResult, solve_many
from quadsweep.solving.solve import solve

__all__ = [
    "Audit",
    "AuditTable",
    "BatchResult",
    "Bootstrap",
    "Check",
    "CoefficientCurve",
    "Comparison",
    "Conic",
    "Explorer",
    "Groups",
    "Influence",
    "InfluenceCurve",
    "LineSignificance",
    "OutOfCoreAudit",
    "PairwiseFiles",
    "PairwiseResult",
    "Path",
    "PathSignificance",
    "Proof",
    "Reference",
    "RegressionAudit",
    "Result",
    "Separation",
    "Significance",
    "Stability",
    "StreamedPath",
    "StreamedResult",
    "audit",
    "audit_table",
    "by",
    "check",
    "compare",
    "datasets",
    "explore",
    "influence",
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

__version__ = "0.1.0"
