"""Several terms of a fitted model, tested at once by its own library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.adapter import Adapter
from quadsweep.inputs.fitted.protocol import Figures, Fitted, Refused
from quadsweep.inputs.standard_errors import JOINT, OWN, StandardErrors
from quadsweep.messages import hint


class JointModel:
    """A fitted model whose one term is the Wald or F test of several.

    Its figures are the statistic, no standard error, and the z of the same p-value.
    """

    terms: tuple[str, ...]

    def __init__(self, model: Adapter, tested: Sequence[str]) -> None:
        self._model, self.tested = model, tuple(tested)
        self.terms = (" and ".join(self.tested),)
        self.name = f"joint tests of {model.name}"
        self.n, self.labels, self.assumed = model.n, model.labels, model.assumed

    def refit(self, rows: Ints, terms: Sequence[str]) -> Fitted:
        from scipy.special import ndtri

        found = self._model.refit(rows, self.tested)
        if found.undefined:
            return Fitted({}, dict.fromkeys(self.terms, next(iter(found.undefined.values()))), rows)
        statistic, p = self._model.test_jointly(self._model.fit(np.sort(rows)), self.tested)
        if not math.isfinite(p):
            return Fitted({}, dict.fromkeys(self.terms, "the joint test has no p-value"), rows)
        z = -float(ndtri(max(p, 1e-300) / 2))
        return Fitted({self.terms[0]: Figures(statistic, math.nan, z, p, math.inf)}, {}, found.used)

    def columns(self) -> Floats | None:
        return None


def join_terms(found: Equation, model: Adapter, tested: Sequence[str]) -> Equation:
    """The equation with the fitted part of some terms as one column, to find good removals by."""
    if found.instruments:
        raise Refused(f"joint tests of {model.name} with instruments are not supported; give one "
                      "term")  # fmt: skip
    if len(set(tested)) < 2:
        raise ValueError(f"a joint test is of two terms or more; got {list(tested)!r}")
    for term in tested:
        if term not in found.names:
            raise ValueError(f"no term {term!r} in the regression{hint(term, found.names)}")
    y: Any = found.y if found.working is None else found.working
    root = np.ones(len(y)) if found.weights is None else np.sqrt(found.weights)
    estimates = np.linalg.lstsq(root[:, None] * found.X, root * y, rcond=None)[0]
    at = [found.names.index(term) for term in tested]
    others = np.setdiff1d(np.arange(len(found.names)), at)
    joint = JointModel(model, tested)
    return replace(
        found, names=(joint.terms[0], *(found.names[j] for j in others)), link="", model=joint,
        X=np.column_stack([found.X[:, at] @ estimates[at], found.X[:, others]]), working=y,
        errors=StandardErrors(OWN, by=JOINT, normal=True), term=joint.terms[0], endogenous=None,
    )  # fmt: skip
