"""What is left of a sum of products when m units go: a lower bound for any number of controls.

Controls that are dummies of a partition are fitted exactly (``classes``), the others given those
by an orthonormal basis Q; p and q are residuals on all of them. The compiled half bounds what up to
m units can take, by scaled diagonal dominance, and branches on units
(docs/theory/many-controls.md; ``_core/many_controls``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.classes import partition
from quadsweep.auditing.design import Design
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.span import Span

MOST_NODES = 5_000  # without a limit on time
_NODES = 2**62


@dataclass(frozen=True)
class FormProof:
    """Whether it is proved; a removal for which it does not hold, as far as rounding tells."""

    proved: bool
    removal: Ints | None = None
    nodes: int = 0


class Unclear(Exception):
    """It is not certain which controls depend on which."""


class Controls:
    """The classes of a partition and a basis of the other controls given them, on all rows."""

    def __init__(
        self, design: Design, controls: Floats, rank: Callable[[], int], of_row: Ints | None = None
    ) -> None:
        """``rank`` counts exactly, where it can, the controls that are left; ``of_row`` are classes
        whose dummies are not among the controls, others are looked for."""
        self._design, root = design, design.root_weights
        others = np.arange(controls.shape[1])
        if of_row is None:
            of_row, others = partition(controls, None if design.units is None else design.unit)
        self.class_of = of_row
        left = np.zeros((design.n, len(others)))
        for i, j in enumerate(others):
            left[:, i] = root * design.centred(controls[:, j])
        self._span = Span(left, root, of_row)
        if not self._span.clear or not self._span.is_certain(controls[:, others], rank):
            raise Unclear
        self.q, self.residual = self._span.q, self._span.residual
        # Of the span of Q, and with it of each of its rows.
        self.rounding = 1e-15 * math.sqrt(design.n) * self._span.condition

    @property
    def unit_vector(self) -> Floats:
        """Of each class, of length one; 0 for rows of none."""
        assert self._span.classes is not None
        return self._span.classes.e

    @cached_property
    def smallest_classes(self) -> Ints:
        """Units that it takes at least to empty 1, 2, ... classes."""
        sizes = np.bincount(self.class_of[self.class_of >= 0], minlength=1)
        if self._design.units is not None:
            return np.arange(1, int((sizes > 0).sum()) + 1)
        return np.cumsum(np.sort(sizes[sizes > 0]))


class Form:
    """Is what the controls leave of p.q, less the sum of ``extra``, positive on every subset?

    p, q and extra have the weights in them already; extra is not negative.
    """

    def __init__(
        self, controls: Controls, design: Design, p: Floats, q: Floats, extra: Floats | None = None
    ) -> None:
        self._controls = controls
        classes, e, items = controls.class_of, controls.unit_vector, design.unit
        extra = np.zeros(design.n) if extra is None else extra
        columns = np.column_stack([controls.q, controls.residual(p), controls.residual(q)])
        if design.units is not None:  # whole classes go with their groups
            columns, extra, items = _compressed(design, columns, extra)
            classes, e = np.full(len(items), -1, dtype=np.int64), np.zeros(len(items))
        self._core = _core.ManyControls(
            np.ascontiguousarray(columns.T[:-2]), *np.ascontiguousarray(columns.T[-2:]),
            extra=extra, e=e, classes=classes, items=items, rounding=controls.rounding,
        )  # fmt: skip

    def least(self, m: int, seconds: float = math.inf) -> float:
        """At least this is left whatever m units go; minus infinity if that is not known, or not in
        so many seconds."""
        return self._core.least(m, max(seconds, 0.0))

    def rank_lost(self, m: int, seconds: float = math.inf) -> int:
        """Controls that at most drop out when m units go."""
        emptied = int(np.searchsorted(self._controls.smallest_classes, m, side="right"))
        known = self.least(m, seconds) > -math.inf
        return emptied if known else emptied + int(self._controls.q.shape[1])

    def refute(
        self, m: int, resources: Resources, patience: float = math.inf, *, branch: bool = True
    ) -> FormProof:
        """Whether no removal of up to m units makes the form zero or negative.

        Branching ends after ``MOST_NODES``, or where there is a limit on time, with it.
        """
        nodes = _NODES if resources.is_limited else MOST_NODES
        found = self._core.refute(
            m, most_nodes=nodes if branch else 1, n_jobs=resources.n_jobs, progress=resources.count,
            time_limit=resources.within(patience),
            memory=min(resources.memory_limit / 2, 5e8),
        )  # fmt: skip
        resources.nodes += found["nodes"]
        if not found["proved"] and found["status"] in ("time_limit", "interrupted"):
            raise resources.stopped(found["status"])
        removal = np.sort(np.array(found["removal"], dtype=np.int64))
        return FormProof(found["proved"], removal if len(removal) else None, found["nodes"])


def _compressed(design: Design, columns: Floats, extra: Floats) -> tuple[Floats, Floats, Ints]:
    """Rows of each group with the same sums of products, no more than there are columns.

    Only these sums matter where groups go whole: R of the QR decomposition has them.
    """
    most = columns.shape[1]
    parts, extras, items = [], [], []
    for unit, rows in enumerate(design.members):
        block, more = columns[rows], extra[rows]
        if len(rows) > most:
            block = np.asarray(np.linalg.qr(block, mode="r"))
            more = np.append(more.sum(), np.zeros(most - 1))
        parts.append(block)
        extras.append(more)
        items.append(np.full(len(block), unit))
    return np.concatenate(parts), np.concatenate(extras), np.concatenate(items)
