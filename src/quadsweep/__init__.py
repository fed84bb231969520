"""Which k of n points have the highest R2, exactly and with a certificate.

>>> import quadsweep as qs
>>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).outliers
array([2])
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from quadsweep.conic import Conic
from quadsweep.result import Result
from quadsweep.solve import solve

if TYPE_CHECKING:
    from quadsweep import datasets
    from quadsweep.audit import Audit, audit
    from quadsweep.batch import BatchResult, solve_many
    from quadsweep.compare import Comparison, compare
    from quadsweep.custom import naive_sweep
    from quadsweep.influence import InfluenceCurve, influence_curve
    from quadsweep.pairwise import PairwiseResult, pairwise
    from quadsweep.path import Path, path
    from quadsweep.path_significance import PathSignificance
    from quadsweep.separability import Separation, separate
    from quadsweep.significance import Significance, significance
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

# Where the names live that are loaded only when asked for.
_HOMES = {
    "Audit": "audit",
    "BatchResult": "batch",
    "Comparison": "compare",
    "InfluenceCurve": "influence",
    "PairwiseResult": "pairwise",
    "Path": "path",
    "PathSignificance": "path_significance",
    "Separation": "separability",
    "Significance": "significance",
    "Stability": "stability",
    "audit": "audit",
    "compare": "compare",
    "influence_curve": "influence",
    "naive_sweep": "custom",
    "pairwise": "pairwise",
    "path": "path",
    "separate": "separability",
    "significance": "significance",
    "solve_many": "batch",
    "stability": "stability",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("quadsweep.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"quadsweep.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Importing the module ``quadsweep.path`` must not hide the function ``quadsweep.path``."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and (name in _HOMES or name == "solve")):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
