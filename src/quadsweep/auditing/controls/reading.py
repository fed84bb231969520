"""Whatever describes a regression becomes a design here, or one clear sentence.

Arrays; a formula and a table (by way of formulaic); a fitted model of statsmodels or pyfixest.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.kinds import is_fitted, is_statsmodels
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.extras import needed
from quadsweep.inputs import frames, standard_errors, validation
from quadsweep.inputs.standard_errors import StandardErrors
from quadsweep.least_squares import independent

FIXED = "fixed"


@dataclass(frozen=True, eq=False)
class Columns:
    """A regression taken apart, rows with missing values still in it."""

    x: Floats
    y: Floats
    controls: Floats
    names: tuple[str, ...]
    term: str
    outcome: str
    weights: Any = None
    labels: Sequence[Any] | None = None
    table: Any = None
    errors: StandardErrors | None = None  # a fitted model's own, of the rows it used
    rows: Ints | None = None  # of the table, where some were left out already
    given: int | None = None


@dataclass(frozen=True, eq=False)
class Regression:
    """A design, and where its rows are in what was given."""

    design: Design
    rows: Ints
    given: int
    errors: StandardErrors
    by: str
    labels: Sequence[Any] | None
    fixed: bool = False
    table: Any = None
    dependent: tuple[str, ...] = ()  # controls that those before them explain


def read(
    x: Any, y: Any, *, controls: Any, groups: Any, weights: Any, data: Any, term: Any, vcov: Any,
    nan_policy: str,
) -> Regression:  # fmt: skip
    """The regression that the arguments of an audit describe."""
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit'; got {nan_policy!r}")
    fixed = isinstance(controls, str) and controls == FIXED
    if isinstance(x, str) or is_fitted(x):
        if y is not None or (controls is not None and not fixed):
            raise TypeError("a formula or a fitted model has its own outcome and controls; "
                            "give neither y nor controls")  # fmt: skip
        columns = _formula(x, data, term) if isinstance(x, str) else _fitted(x, term)
    else:
        if fixed or isinstance(controls, str):
            raise ValueError(f"controls must be columns of numbers; got {controls!r} (controls="
                             "'fixed' goes with a formula or a fitted model)")  # fmt: skip
        if data is not None or term is not None:
            raise TypeError("data and term go with a formula or a fitted model; got arrays")
        columns = _arrays(x, y, controls)
    return _clean(columns, groups, weights, vcov, nan_policy, fixed)


# ---- arrays -----------------------------------------------------------------------------------


def _arrays(x: Any, y: Any, controls: Any) -> Columns:
    given = frames.unpack(x, y)
    if given.y is None:
        raise TypeError("an audit with controls, groups or weights needs x and y")
    xs, ys = validation.column(given.x, "x"), validation.column(given.y, "y")
    if len(xs) != len(ys):
        raise ValueError(f"x and y must have the same length; got {len(xs)} and {len(ys)}")
    names, z = _control_columns(controls, len(xs))
    return Columns(xs, ys, z, names, given.names[0], given.names[1], labels=given.labels)


def _control_columns(controls: Any, n: int) -> tuple[tuple[str, ...], Floats]:
    """Columns of numbers, an intercept before them unless one of them is constant."""
    names: list[str] = []
    columns: list[Floats] = []
    if controls is not None:
        if isinstance(controls, (list, tuple, np.ndarray)):
            array = np.asarray(controls)
            array = array[:, None] if array.ndim == 1 else array
            if array.ndim != 2 or len(array) != n:
                raise ValueError(f"controls must be {n} rows of numbers, one column a control; got "
                                 f"shape {np.shape(controls)}")  # fmt: skip
            titles, values = [f"z{i + 1}" for i in range(array.shape[1])], list(array.T)
        elif hasattr(controls, "columns"):
            titles, values = frames.every_column(controls)
        else:
            titles, values = [getattr(controls, "name", None) or "z1"], [np.asarray(controls)]
        for title, value in zip(titles, values, strict=True):
            names.append(str(title))
            columns.append(validation.column(value, f"control {title!r}"))
            if len(columns[-1]) != n:
                raise ValueError(f"control {title!r} must have as many values as x; got "
                                 f"{len(columns[-1])} and {n}")  # fmt: skip
    if not any(_is_constant(c) for c in columns):
        names, columns = ["Intercept", *names], [np.ones(n), *columns]
    return tuple(names), np.column_stack(columns)


def _is_constant(column: Floats) -> bool:
    seen = column[np.isfinite(column)]
    return len(seen) > 0 and bool(np.all(seen == seen[0])) and seen[0] != 0


# ---- formulas ---------------------------------------------------------------------------------


def _formula(formula: str, data: Any, term: Any) -> Columns:
    if data is None:
        raise TypeError("a formula needs data=, a data frame with its columns")
    with needed("a formula"):
        from formulaic import model_matrix
        from formulaic.errors import FormulaicError
    table, labels = _pandas(data)
    try:
        parts = model_matrix(formula, table)
    except (FormulaicError, SyntaxError) as wrong:
        first = str(wrong).strip().splitlines()[0]
        raise ValueError(f"formula {formula!r} cannot be read: {first}") from None
    if not hasattr(parts, "lhs"):
        raise ValueError(f"formula {formula!r} has no outcome; write outcome ~ term + controls")
    left, right = parts.lhs, parts.rhs
    if left.shape[1] != 1:
        raise ValueError(f"formula {formula!r} must have one numeric outcome; got "
                         f"{', '.join(left.columns)}")  # fmt: skip
    rows = np.asarray(left.index, dtype=np.int64)
    columns = _split(
        np.asarray(left.iloc[:, 0], dtype=np.float64), np.asarray(right, dtype=np.float64),
        [str(c) for c in right.columns], str(left.columns[0]), term,
    )  # fmt: skip
    return replace(columns, labels=labels, table=table, rows=rows, given=len(table))


def _pandas(data: Any) -> tuple[Any, Sequence[Any] | None]:
    """The table in pandas with rows numbered from 0, and what its rows were called."""
    with needed("a formula"):
        import pandas as pd
    if isinstance(data, pd.DataFrame):
        labels = data.index.tolist()
        numbered = labels == list(range(len(labels)))
        return data.reset_index(drop=True), None if numbered else labels
    if isinstance(data, dict):
        return pd.DataFrame(data), None
    names, values = frames.every_column(data)
    return pd.DataFrame(dict(zip(names, values, strict=True))), None


def _split(y: Floats, design: Floats, names: list[str], outcome: str, term: Any) -> Columns:
    """The term's column of a design matrix, and the others."""
    at = _term(names, design, term)
    others = [i for i in range(len(names)) if i != at]
    return Columns(
        design[:, at], y, design[:, others], tuple(names[i] for i in others), names[at], outcome
    )


def _term(names: list[str], design: Floats, term: Any) -> int:
    varying = [name for name, c in zip(names, design.T, strict=True) if not _is_constant(c)]
    if term is None:
        if len(varying) == 1:
            return names.index(varying[0])
        raise ValueError(f"give term=, one of: {', '.join(varying)}")
    if term in varying:
        return names.index(term)
    near = difflib.get_close_matches(str(term), varying, 1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(varying)}"
    raise ValueError(f"no term {term!r} in the regression; {hint}")


# ---- fitted models ----------------------------------------------------------------------------


def _fitted(result: Any, term: Any) -> Columns:
    return _statsmodels(result, term) if is_statsmodels(result) else _pyfixest(result, term)


def _statsmodels(result: Any, term: Any) -> Columns:
    model = result.model
    kind = type(model).__name__
    if kind not in ("OLS", "WLS") or not hasattr(result, "cov_type"):
        what = kind if kind not in ("OLS", "WLS") else f"{type(result).__name__} of {kind}"
        raise TypeError(f"{what} results of statsmodels are not supported; give those of OLS or "
                        "WLS, or a formula")  # fmt: skip
    columns = _split(
        np.asarray(model.endog, dtype=np.float64), np.asarray(model.exog, dtype=np.float64),
        [str(name) for name in model.exog_names], str(model.endog_names), term,
    )  # fmt: skip
    n = len(columns.y)
    labels, table, rows = _places(model.data, n)
    return replace(
        columns,
        labels=labels,
        table=table,
        rows=rows,
        given=None if rows is None else n + len(model.data.missing_row_idx),
        weights=np.asarray(model.weights, dtype=np.float64) if kind == "WLS" else None,
        errors=standard_errors.of_statsmodels(result),
    )


def _places(data: Any, n: int) -> tuple[Sequence[Any] | None, Any, Ints | None]:
    """Labels of the rows, the table they are from, and where in it they are."""
    labels, table = getattr(data, "row_labels", None), getattr(data, "frame", None)
    left_out = getattr(data, "missing_row_idx", None)
    if left_out is not None and len(left_out):
        rows = np.delete(np.arange(n + len(left_out)), left_out)
        every = None if table is None else table.index.tolist()
        return None if every == list(range(len(rows) + len(left_out))) else every, table, rows
    plain = None if labels is None else list(labels)
    return None if plain == list(range(n)) else plain, table, None


def _pyfixest(model: Any, term: Any) -> Columns:
    _check_feols(model)
    weights = None
    if model._has_weights:
        weights = np.asarray(model._weights, dtype=np.float64).ravel()
    root = np.ones(1) if weights is None else np.sqrt(weights)
    columns = _split(
        np.asarray(model._Y, dtype=np.float64).ravel() / root,
        np.asarray(model._X, dtype=np.float64) / root[:, None],
        [str(name) for name in model._coefnames], str(model._depvar), term,
    )  # fmt: skip
    left_out = np.array(sorted(model._na_index), dtype=np.int64)
    given = len(columns.y) + len(left_out)
    table = getattr(model, "_data", None)
    return replace(
        columns,
        weights=weights,
        table=None if table is None else table.reindex(range(given)),
        rows=np.delete(np.arange(given), left_out),
        given=given,
        errors=standard_errors.of_pyfixest(model),
    )


def _check_feols(model: Any) -> None:
    kind = type(model).__name__
    if kind != "Feols":
        raise TypeError(f"{kind} of pyfixest is not supported; give a feols fit without "
                        "instruments, or a formula")  # fmt: skip
    if model._has_fixef:
        raise ValueError("fixed effects that were absorbed cannot be refitted from the model; "
                         "write them as C(...) in the formula")  # fmt: skip
    if not hasattr(model, "_X"):
        raise ValueError("a feols fit with lean=True has no data any more; fit it with lean=False")
    if model._weights_type != "aweights":
        raise ValueError(f"weights of type {model._weights_type!r} are not supported; repeat the "
                         "rows instead, or fit with weights_type='aweights'")  # fmt: skip
    if model._sample_split_var is not None:
        raise ValueError("a feols fit of a split sample does not know the places of its rows; fit "
                         "that sample by itself")  # fmt: skip


# ---- rows -------------------------------------------------------------------------------------


def _clean(
    columns: Columns, groups: Any, weights: Any, vcov: Any, nan_policy: str, fixed: bool
) -> Regression:
    given = columns.given if columns.given is not None else len(columns.y)
    rows = columns.rows if columns.rows is not None else np.arange(given)
    group, by = _labelled(groups, "groups", columns.table, given)
    weight = columns.weights if weights is None else _numbers(weights, columns.table, given)[rows]
    errors = _errors(vcov, columns, rows, given)
    good = np.isfinite(columns.x) & np.isfinite(columns.y)
    good &= np.isfinite(columns.controls).all(axis=1)
    if weight is not None:
        good &= np.isfinite(weight)
        if np.any(weight[good] <= 0):
            raise ValueError(f"weights must be positive; got {float(weight[good].min()):g}")
    if group is not None:
        good &= ~standard_errors.missing(group)[rows]
    good &= errors.usable(len(rows))
    # What a fitted model left out is left out here too; nobody need say so again.
    bad = (given if columns.errors is None else len(rows)) - int(good.sum())
    if bad and nan_policy == "raise":
        raise ValueError(f"the regression's columns must be finite; got {bad} rows with missing "
                         "values (nan_policy='omit' leaves them out)")  # fmt: skip
    rows, errors = rows[good], errors.of(good)
    x, y, z = columns.x[good], columns.y[good], columns.controls[good]
    unit, units = _units(group, rows)
    intercept = next((i for i in range(z.shape[1]) if _is_constant(z[:, i])), None)
    every = Design(
        x, y, z, intercept, None if weight is None else weight[good], unit, units,
        columns.term, columns.outcome, columns.names,
    )  # fmt: skip
    design = without_dependent(every)
    dependent = tuple((Counter(every.names) - Counter(design.names)).elements())
    _check(design)
    if fixed:
        design = residualised(design)
    return Regression(
        design, rows, given, errors, by, columns.labels, fixed, columns.table, dependent
    )


def _units(group: Any, rows: Ints) -> tuple[Ints, Sequence[Any] | None]:
    if group is None:
        return np.arange(len(rows)), None
    names: dict[Any, int] = {}
    unit = np.array([names.setdefault(g, len(names)) for g in group[rows].tolist()], dtype=np.int64)
    return unit, list(names)


def _labelled(what: Any, name: str, table: Any, n: int) -> tuple[Any, str]:
    """Labels of all rows, from a column's name or as given, and what they are called."""
    if what is None:
        return None, ""
    if isinstance(what, str):
        if table is None or what not in getattr(table, "columns", ()):
            raise ValueError(f"{name}: no column {what!r} in the data")
        return np.asarray(table[what]), what
    labels = np.asarray(what)
    if labels.shape != (n,):
        raise ValueError(f"{name} must be one label a row, {n} of them; got shape {labels.shape}")
    return labels, str(getattr(what, "name", None) or name)


def _numbers(weights: Any, table: Any, n: int) -> Floats:
    labels, _ = _labelled(weights, "weights", table, n)
    return validation.column(labels, "weights")


def _errors(vcov: Any, columns: Columns, rows: Ints, given: int) -> StandardErrors:
    """Those asked for, or else the fitted model's own, of the rows in use."""
    if vcov is None and columns.errors is not None:
        return columns.errors

    def labels(what: Any) -> tuple[Any, str]:
        found, by = _labelled(what, "vcov", columns.table, given)
        return found[rows], by

    return standard_errors.asked_for(vcov, labels)


def _check(design: Design) -> None:
    """There must be a coefficient to audit."""
    n, q = design.n, design.q
    if n < q + 3:
        raise ValueError(f"an audit needs at least {q + 3} rows for {q} controls and the intercept "
                         f"included; got {n}")  # fmt: skip
    if design.size < 2:
        raise ValueError("groups must be at least two; got one")
    if np.all(design.y == design.y[0]):
        raise ValueError(f"{design.outcome} is constant ({design.y[0]:g} in all {n} rows)")


def without_dependent(design: Design) -> Design:
    """Without controls that those before them explain on all rows, up to rounding."""
    at, z = design.intercept, design.controls
    others = np.delete(np.arange(design.q), [] if at is None else [at])
    keep = sorted(
        [*others[independent(z[:, others], at is not None)], *([] if at is None else [at])]
    )
    if len(keep) == design.q:
        return design
    return replace(
        design,
        controls=np.ascontiguousarray(design.controls[:, keep]),
        names=tuple(design.names[j] for j in keep),
        intercept=None if at is None else keep.index(at),
    )


def residualised(design: Design) -> Design:
    """x and y without what the controls explain on all rows, and no controls any more."""
    m = Moments(design)
    root = design.root_weights
    return replace(
        design,
        x=m.x * m.scale[0] / root,
        y=m.y * m.scale[1] / root,
        controls=np.zeros((design.n, 0)),
        intercept=None,
        fixed=m.rank,
    )
