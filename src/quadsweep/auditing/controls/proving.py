"""The proof file of an audit's lower bound with controls, where the claim is about a coefficient.

One statement for each way in which the claim can break: no k rows or more have a partial covariance
of x and sign (y - beta x) above 0, hence no coefficient beyond beta, by however little. The columns
are the controls in their order, then the term and the outcome; the intercept is understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadsweep.auditing.conditions import Condition, SlopeBeyond
from quadsweep.auditing.controls.reading import Regression
from quadsweep.auditing.design import Design
from quadsweep.clock import Clock
from quadsweep.proofs.proof import Proof, together
from quadsweep.proofs.several import MOST
from quadsweep.proofs.writer import Statement, Unproved, largest_covariance, write


def check_provable(given: Regression, claim: str) -> None:
    """Before any work: is there a kind of proof for this?"""
    design = given.design
    obstacles = {
        f"claim {claim!r}": claim not in ("sign", "slope"),
        "groups": design.units is not None,
        "weights": design.weights is not None,
        "controls='fixed'": given.fixed,
        "no intercept": design.intercept is None,
        f"{design.q - 1} controls": design.q - 1 > MOST,
        f"{', '.join(given.dependent)}, which other controls explain": bool(given.dependent),
    }
    found = next((what for what, there in obstacles.items() if there), None)
    if found is not None:
        raise ValueError(
            "proof=True of a regression is for the claims 'sign' and 'slope', with an intercept "
            f"and up to {MOST} controls, without groups or weights; got {found}: that is certified "
            "by the search only"
        )


def refutation(
    design: Design, ways: Sequence[Condition], most: int, time_limit: float, **limits: Any
) -> Proof | None:
    """That no removal of up to ``most`` rows breaks the claim; None where no proof was found.
    Other limits are those of ``write``."""
    if most < 1:
        return None
    clock, k = Clock(time_limit), design.n - most
    try:
        parts = (_statement(design, way, k) for way in ways)
        return together([write(part, time_limit=clock.left(), **limits) for part in parts])
    except Unproved:
        return None


def _statement(design: Design, way: Condition, k: int) -> Statement:
    assert isinstance(way, SlopeBeyond)
    x, y, everyone = design.x, design.y, range(design.n)
    asked: dict[str, Any] = {"best": False, "or_more": True, "sign": way.sign, "beta": way.beta}
    if design.q == 1:  # the intercept
        t = largest_covariance(x, y, k, way.margin)
        return Statement(x, y, k, "cov", t, everyone, 0.0, margin=way.margin, **asked)
    others = np.delete(design.controls, design.intercept or 0, axis=1)
    columns = np.column_stack([others, x])
    return Statement(columns, y, k, "cov", 0.0, everyone, 0.0, **asked)
