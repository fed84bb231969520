"""What kind of question an audit is asked: about two columns, or about a regression."""

from __future__ import annotations

from typing import Any

from quadsweep.inputs.frames import columns_by_name


def is_regression(x: Any, **more: Any) -> bool:
    """Whether a call of audit is about more than one predictor, or more than single rows."""
    return isinstance(x, str) or is_fitted(x) or any(v is not None for v in more.values())


def by_name(x: Any, y: Any, more: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The arguments with the columns of ``data`` in place of their names, if x and y are names."""
    if more["data"] is None or not isinstance(x, str) or not isinstance(y, str):
        return x, y, more
    names = {key: value for key, value in more.items() if key not in ("data", "term")}
    if isinstance(names["controls"], str):
        names["controls"] = [names["controls"]]
    term = None if more["term"] == x else more["term"]
    found = columns_by_name(more["data"], x=x, y=y, **names)
    return found.pop("x"), found.pop("y"), {**found, "data": None, "term": term}


def is_fitted(model: Any) -> bool:
    return is_statsmodels(model) or is_pyfixest(model)


def is_statsmodels(model: Any) -> bool:
    inner = getattr(model, "model", None)
    return hasattr(inner, "exog") and hasattr(inner, "endog") and hasattr(model, "params")


def is_pyfixest(model: Any) -> bool:
    return type(model).__module__.split(".")[0] == "pyfixest"
