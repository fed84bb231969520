"""What kind of question an audit is asked: about two columns, or about a regression."""

from __future__ import annotations

from typing import Any


def is_regression(x: Any, **more: Any) -> bool:
    """Whether a call of audit is about more than one predictor, or more than single rows."""
    return isinstance(x, str) or is_fitted(x) or any(v is not None for v in more.values())


def is_fitted(model: Any) -> bool:
    return is_statsmodels(model) or is_pyfixest(model)


def is_statsmodels(model: Any) -> bool:
    inner = getattr(model, "model", None)
    return hasattr(inner, "exog") and hasattr(inner, "endog") and hasattr(model, "params")


def is_pyfixest(model: Any) -> bool:
    return type(model).__module__.split(".")[0] == "pyfixest" and hasattr(model, "_X")
