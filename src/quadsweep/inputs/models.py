"""Fitted models of statsmodels, pyfixest and linearmodels become equations, or are refused by name.

What a model was fitted with (standard errors, weights, fixed effects, the rows it used) is taken
over; the equation carries the model, which its library can fit again to some of the rows. Nothing
of these libraries is imported unless a model is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.adapting import ADAPTERS, choose_adapter
from quadsweep.inputs.fitted.joint import join_terms


def is_model(x: Any) -> bool:
    return _library(x) in (*ADAPTERS, "sklearn")


def is_several(x: Any) -> bool:
    """Whether these are several fits of pyfixest at once."""
    return _library(x) == "pyfixest" and hasattr(x, "to_list")


def describe(model: Any) -> str:
    """What to call a model: "OLS results of statsmodels"."""
    inner = getattr(model, "model", None)
    if _library(model) in ("statsmodels", "linearmodels") and inner is not None:
        return f"{type(inner).__name__} results of {_library(model)}"
    return f"{type(model).__name__} of {_library(model)}"


def equation(
    model: Any, data: Any = None, fit_options: dict[str, Any] | None = None,
    tested: Sequence[str] = (),
) -> Equation:  # fmt: skip
    """The regression of a fitted model.

    ``data`` is the table it was fitted to, for the names of its rows and where the model does not
    keep them; ``fit_options`` are options of its fit that its library does not keep. ``tested`` are
    terms to be tested at once.
    """
    table = data.to_frame() if hasattr(data, "to_frame") else data
    adapter = choose_adapter(model, table)
    found = adapter.equation()
    if (
        table is not None
        and found.outcome in table
        and not np.array_equal(
            np.asarray(table[found.outcome], dtype=np.float64)[found.rows], found.y
        )
    ):
        raise ValueError(f"data must be the table that the model was fitted to; got another "
                         f"{found.outcome}")  # fmt: skip
    adapter.check(fit_options or {})
    return join_terms(found, adapter, tested) if tested else found


def _library(model: Any) -> str:
    return type(model).__module__.split(".")[0]
