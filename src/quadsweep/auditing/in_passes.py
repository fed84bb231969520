"""The former place of :class:`quadsweep.OutOfCoreAudit`, under its former name."""

from quadsweep.auditing.result import OutOfCoreAudit as StreamedAudit

__all__ = ["StreamedAudit"]
