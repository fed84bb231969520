"""Fitted models of statsmodels, pyfixest and linearmodels become equations, or are refused by name.

What a model was fitted with (standard errors, weights, fixed effects, the rows it used) is taken
over. Nothing here is imported unless a model is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.inputs import standard_errors
from quadsweep.inputs.equations import Equation

_EFFECT = re.compile(r"__fixed_effect__\((.*)\)")  # what pyfixest calls its codes
LIBRARIES = ("statsmodels", "pyfixest", "linearmodels", "sklearn")


def library(model: Any) -> str:
    """Where a model is from, "" for what is none."""
    name = type(model).__module__.split(".")[0]
    return name if name in LIBRARIES else ""


def is_model(x: Any) -> bool:
    return library(x) != ""


def described(model: Any) -> str:
    """What to call a model: "OLS results of statsmodels"."""
    inner = getattr(model, "model", None)
    if library(model) in ("statsmodels", "linearmodels") and inner is not None:
        return f"{type(inner).__name__} results of {library(model)}"
    return f"{type(model).__name__} of {library(model)}"


def equation(model: Any) -> Equation:
    """The regression of a fitted model."""
    read: dict[str, Callable[[Any], Equation]] = {
        "statsmodels": _statsmodels, "pyfixest": _pyfixest, "linearmodels": _linearmodels,
    }  # fmt: skip
    if library(model) not in read:
        raise _refused(model)
    return read[library(model)](model)


def labelled(given: Equation, data: Any) -> Equation:
    """The same with the names of the rows of the table that the model was fitted to; pyfixest keeps
    a copy without them."""
    table = data.to_frame() if hasattr(data, "to_frame") else data
    if len(table) != given.given:
        raise ValueError(f"data must be the {given.given:,} rows that the model was given; got "
                         f"{len(table):,}")  # fmt: skip
    if given.outcome in table and not np.array_equal(
        np.asarray(table[given.outcome], dtype=np.float64)[given.rows], given.y
    ):
        raise ValueError(f"data must be the table that the model was fitted to; got another "
                         f"{given.outcome}")  # fmt: skip
    index = table.index.tolist() if hasattr(table, "index") else list(range(given.given))
    labels = None if index == list(range(given.given)) else index
    return replace(given, labels=labels, table=table)


def _refused(model: Any, instead: str = "give a formula and a data frame") -> TypeError:
    return TypeError(f"{described(model)} cannot be audited; {instead}")


# ---- statsmodels ------------------------------------------------------------------------------


def _statsmodels(result: Any) -> Equation:
    model: Any = getattr(result, "model", None)
    kind = type(model).__name__
    link = _link(model)
    if kind not in ("OLS", "WLS") and not link:
        raise _refused(result, "give results of OLS, WLS, Logit or Poisson, or a formula")
    if not hasattr(result, "cov_type"):
        raise TypeError(f"{type(result).__name__} of {kind} is not supported; fit it with fit()")
    if link and (result.cov_type != "nonrobust" or getattr(result, "scale", 1.0) != 1.0):
        raise ValueError(
            f"{described(result)} with other standard errors than those of maximum likelihood are "
            f"not supported; got {result.cov_type!r} with scale {getattr(result, 'scale', 1.0):g}"
        )
    y = np.asarray(model.endog, dtype=np.float64)
    left_out = getattr(model.data, "missing_row_idx", None)
    gone = [] if left_out is None else left_out
    given = len(y) + len(gone)
    table = getattr(model.data, "frame", None)
    labels = getattr(model.data, "row_labels", None)
    if table is not None:
        labels = table.index
    elif len(gone):
        labels = None
    names = None if labels is None else list(labels)
    return Equation(
        str(model.endog_names),
        y,
        tuple(str(name) for name in model.exog_names),
        np.asarray(model.exog, dtype=np.float64),
        np.delete(np.arange(given), gone),
        given,
        None if names == list(range(given)) else names,
        table,
        weights=np.asarray(model.weights, dtype=np.float64) if kind == "WLS" else None,
        errors=standard_errors.StandardErrors() if link else standard_errors.of_statsmodels(result),
        link=link,
        se=None
        if link
        else dict(zip(model.exog_names, np.asarray(result.bse).tolist(), strict=True)),
    )


def _link(model: Any) -> str:
    """Of a logistic or Poisson regression without offsets and weights; "" of others."""
    kind = type(model).__name__
    if kind == "GLM":
        family = type(model.family).__name__, type(model.family.link).__name__
        kind = {("Binomial", "Logit"): "Logit", ("Poisson", "Log"): "Poisson"}.get(family, "")
        weights = (model.freq_weights, model.var_weights)
        if any(np.any(np.asarray(w) != 1) for w in weights):
            return ""
    for name in ("offset", "exposure"):
        column = getattr(model, name, None)
        if column is not None and np.any(np.asarray(column) != 0):
            return ""
    return {"Logit": "logit", "Poisson": "poisson"}.get(kind, "")


# ---- pyfixest ---------------------------------------------------------------------------------


def _pyfixest(model: Any) -> Equation:
    if type(model).__name__ not in ("Feols", "Feiv"):
        raise _refused(model, "give a feols fit, Logit or Poisson results of statsmodels, or a "
                              "formula")  # fmt: skip
    if not hasattr(model, "_X"):
        raise ValueError("a feols fit with lean=True has no data any more; fit it with lean=False")
    if model._weights_type != "aweights":
        raise ValueError(
            f"weights of type {model._weights_type!r} are not supported; repeat the rows instead, "
            "or fit with weights_type='aweights'"
        )
    if model._sample_split_var is not None:
        raise ValueError(
            "a feols fit of a split sample does not know the places of its rows; fit that sample "
            "by itself"
        )
    weights = None
    if model._has_weights:
        weights = np.asarray(model._weights, dtype=np.float64).ravel()
    y, X, Z = _feols_columns(model, weights)
    names = tuple(str(name) for name in model._coefnames)
    endogenous: str | None = None
    instruments: tuple[tuple[str, Floats], ...] = ()
    if Z is not None:
        exogenous = tuple(str(name) for name in model._coefnames_z)
        endogenous = _only([name for name in names if name not in exogenous])
        instruments = tuple(
            (name, Z[:, j]) for j, name in enumerate(exogenous) if name not in names
        )
    gone = np.array(sorted(model._na_index), dtype=np.int64)
    given = len(y) + len(gone)
    table = getattr(model, "_data", None)
    return Equation(
        str(model._depvar),
        y,
        names,
        X,
        np.delete(np.arange(given), gone),
        given,
        endogenous=endogenous,
        instruments=instruments,
        table=None if table is None else table.reindex(range(given)),
        absorbed=_effects(model),
        weights=weights,
        errors=standard_errors.of_pyfixest(model),
        se=model.se().to_dict(),
    )  # fmt: skip


def _effects(model: Any) -> tuple[tuple[str, Any], ...]:
    if not model._has_fixef:
        return ()
    names = [_EFFECT.sub(r"\1", str(name)) for name in model._fe.columns]
    written = [each.strip() for each in str(model._fixef).split("+")]  # theirs changes by run
    return tuple(
        sorted(
            zip(names, np.asarray(model._fe).T, strict=True), key=lambda e: _place(e[0], written)
        )
    )


def _place(name: str, names: list[str]) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names)), name


def _only(endogenous: list[str]) -> str:
    """The term that is instrumented."""
    if len(endogenous) != 1:
        raise ValueError(f"one instrumented term is supported; got {', '.join(endogenous)}")
    return endogenous[0]


def _feols_columns(model: Any, weights: Floats | None) -> tuple[Floats, Floats, Floats | None]:
    """The outcome, and the columns and instruments without the weights' roots.

    They are demeaned where there are effects, which takes away combinations of the effects' own
    dummies: the coefficients are the same on every subset.
    """
    root = np.ones(1) if weights is None else np.sqrt(weights)
    y = np.asarray(model._Y_untransformed, dtype=np.float64).ravel()
    columns = [
        np.asarray(c, dtype=np.float64) / root[:, None]
        for c in (model._X, *([model._Z] if type(model).__name__ == "Feiv" else []))
    ]
    return y, columns[0], columns[1] if len(columns) > 1 else None


# ---- linearmodels -----------------------------------------------------------------------------


def _linearmodels(result: Any) -> Equation:
    model: Any = getattr(result, "model", None)
    if type(model).__name__ == "IV2SLS":
        return _two_stage(result, model)
    if type(model).__name__ != "PanelOLS":
        raise _refused(result, "give PanelOLS or IV2SLS results, or a formula")
    if model._singleton_index is not None:
        raise ValueError("PanelOLS results with singletons=False are not supported, as every "
                         "removal may make singletons; fit with singletons=True")  # fmt: skip
    weights = np.asarray(model.weights.values2d, dtype=np.float64).ravel()
    used, every = model.dependent.index, model._original_index
    absorbed = []
    if model.entity_effects:
        absorbed.append(("entity", model.dependent.entity_ids.ravel()))
    if model.time_effects:
        absorbed.append(("time", model.dependent.time_ids.ravel()))
    if model.other_effects:
        others = model._other_effect_cats.dataframe
        absorbed += [(str(name), np.asarray(others[name])) for name in others.columns]
    return Equation(
        str(model.dependent.vars[0]),
        np.asarray(model.dependent.values2d, dtype=np.float64).ravel(),
        tuple(str(name) for name in model.exog.vars),
        np.asarray(model.exog.values2d, dtype=np.float64),
        np.asarray(every.get_indexer(used), dtype=np.int64),
        len(every),
        every.tolist(),
        absorbed=tuple(absorbed),
        weights=None if np.all(weights == 1) else weights,
        errors=standard_errors.of_linearmodels(result),
        se=result.std_errors.to_dict(),
    )


def _two_stage(result: Any, model: Any) -> Equation:
    """IV2SLS, with or without instruments."""
    columns = [model.exog, model.endog]
    weights = np.asarray(model.weights.ndarray, dtype=np.float64).ravel()
    labels = list(model._original_index)
    endogenous = [str(name) for name in model.endog.cols]
    return Equation(
        str(model.dependent.cols[0]),
        np.asarray(model.dependent.ndarray, dtype=np.float64).ravel(),
        tuple(str(name) for part in columns for name in part.cols),
        np.hstack([np.asarray(part.ndarray, dtype=np.float64) for part in columns]),
        np.flatnonzero(~np.asarray(model._drop_locs)),
        len(labels),
        None if labels == list(range(len(labels))) else labels,
        endogenous=_only(endogenous) if endogenous else None,
        instruments=tuple(
            (str(name), np.asarray(model.instruments.ndarray[:, j], dtype=np.float64))
            for j, name in enumerate(model.instruments.cols)
        ),
        weights=None if np.all(weights == 1) else weights,
        errors=standard_errors.of_two_stage(result),
        se=result.std_errors.to_dict(),
    )
