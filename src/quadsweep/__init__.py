"""Which k of n rows fit together best, and how few rows a conclusion depends on, with proofs.

>>> import quadsweep as qs
>>> qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1).outliers
array([2])

The package begins with the quadratic sweep of Marc Harary, "Combinatorial optimization of the
coefficient of determination" (arXiv:2410.09316), and proves what the sweep assumes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quadsweep import datasets as datasets
    from quadsweep.auditing.audit import audit as audit
    from quadsweep.auditing.reference import Reference as Reference
    from quadsweep.auditing.result import Audit as Audit
    from quadsweep.auditing.result import OutOfCoreAudit as OutOfCoreAudit
    from quadsweep.auditing.result import RegressionAudit as RegressionAudit
    from quadsweep.auditing.tables import AuditTable as AuditTable
    from quadsweep.auditing.tables import audit_table as audit_table
    from quadsweep.choosing.intervals import Bootstrap as Bootstrap
    from quadsweep.choosing.pairwise import pairwise as pairwise
    from quadsweep.choosing.path import Path as Path
    from quadsweep.choosing.path import path as path
    from quadsweep.choosing.path_significance import PathSignificance as PathSignificance
    from quadsweep.choosing.significance import Significance as Significance
    from quadsweep.choosing.significance import significance as significance
    from quadsweep.choosing.stability import Stability as Stability
    from quadsweep.choosing.stability import stability as stability
    from quadsweep.exploring import Explorer as Explorer
    from quadsweep.exploring import explore as explore
    from quadsweep.outofcore.result import OutOfCoreResult as OutOfCoreResult
    from quadsweep.paper.compare import Comparison as Comparison
    from quadsweep.paper.compare import compare as compare
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

# Loaded when they are asked for, so that the import takes no longer than what is used of it.
_PLACES = {
    "auditing.audit": "audit",
    "auditing.reference": "Reference",
    "auditing.result": "Audit OutOfCoreAudit RegressionAudit",
    "auditing.tables": "AuditTable audit_table",
    "choosing.intervals": "Bootstrap",
    "choosing.pairwise": "pairwise",
    "choosing.path": "Path path",
    "choosing.path_significance": "PathSignificance",
    "choosing.significance": "Significance significance",
    "choosing.stability": "Stability stability",
    "exploring": "Explorer explore",
    "outofcore.result": "OutOfCoreResult",
    "paper.compare": "Comparison compare",
    "paper.separability.lifted_sweep": "naive_sweep",
    "paper.separability.separate": "Separation separate",
    "proofs.checking": "Check check",
    "proofs.proof": "Proof",
    "results.conic": "Conic",
    "results.result": "Result",
    "solving.many": "BatchResult solve_many",
    "solving.solve": "solve",
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = ["datasets", *_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        return _module(name)
    found = getattr(import_module(f"quadsweep.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def _module(name: str) -> Any:
    """``quadsweep.report`` and the like, without an import of their own."""
    try:
        if not name.startswith("__"):  # __main__ would run the command
            return import_module(f"quadsweep.{name}")
    except ModuleNotFoundError as missing:
        if missing.name != f"quadsweep.{name}":
            raise
    raise AttributeError(f"module 'quadsweep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
