"""Which k of n rows fit together best, and how few rows carry a conclusion: exactly, with proofs.

>>> import quadsweep as qs
>>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).outliers
array([2])

It begins with the quadratic sweep of Marc Harary, "Combinatorial optimization of the coefficient
of determination" (arXiv:2410.09316), and proves what the sweep assumes.
"""

from quadsweep import datasets as datasets
from quadsweep.auditing.audit import Audit as Audit
from quadsweep.auditing.audit import audit as audit
from quadsweep.auditing.controls.range import CoefficientCurve as CoefficientCurve
from quadsweep.auditing.controls.report import RegressionAudit as RegressionAudit
from quadsweep.auditing.influence import InfluenceCurve as InfluenceCurve
from quadsweep.auditing.influence import influence_curve as influence_curve
from quadsweep.choosing.intervals import Bootstrap as Bootstrap
from quadsweep.choosing.line_significance import LineSignificance as LineSignificance
from quadsweep.choosing.pairwise import pairwise as pairwise
from quadsweep.choosing.pairwise_result import PairwiseFiles as PairwiseFiles
from quadsweep.choosing.pairwise_result import PairwiseResult as PairwiseResult
from quadsweep.choosing.path import Path as Path
from quadsweep.choosing.path import path as path
from quadsweep.choosing.path_significance import PathSignificance as PathSignificance
from quadsweep.choosing.significance import Significance as Significance
from quadsweep.choosing.significance import significance as significance
from quadsweep.choosing.stability import Stability as Stability
from quadsweep.choosing.stability import stability as stability
from quadsweep.exploring import Explorer as Explorer
from quadsweep.exploring import explore as explore
from quadsweep.groups import Groups as Groups
from quadsweep.groups import by as by
from quadsweep.paper.comparators.compare import Comparison as Comparison
from quadsweep.paper.comparators.compare import compare as compare
from quadsweep.paper.separability.lifted_sweep import naive_sweep as naive_sweep
from quadsweep.paper.separability.separate import Separation as Separation
from quadsweep.paper.separability.separate import separate as separate
from quadsweep.proofs.checking import Check as Check
from quadsweep.proofs.checking import check as check
from quadsweep.proofs.proof import Proof as Proof
from quadsweep.results.conic import Conic as Conic
from quadsweep.results.result import Result as Result
from quadsweep.solving.many import BatchResult as BatchResult
from quadsweep.solving.many import solve_many as solve_many
from quadsweep.solving.solve import solve as solve

__version__ = "0.1.0"
