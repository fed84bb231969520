"""Whatever describes a regression becomes a design here, or one clear sentence.

Arrays; a formula and a table; a fitted model. ``inputs`` reads them; here the term is separated
from the controls, and rows with missing values from the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.classes import Classes, partition
from quadsweep.auditing.confirm import Columns, StatedModel
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.inputs import formulas, frames, models, standard_errors, validation
from quadsweep.inputs.arguments import is_formula
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.protocol import Model
from quadsweep.inputs.frames import unpack
from quadsweep.inputs.standard_errors import StandardErrors
from quadsweep.inputs.validation import columns_of
from quadsweep.least_squares import DEPENDENT, independent, spans_constant
from quadsweep.messages import argument, hint
from quadsweep.solving.question import pose

FIXED = "fixed"
_MOST_DUMMIES = 3 * 10**7  # numbers in the dummies of fixed effects, 240 MB
_MOST_LEVELS = 1_000  # of three effects or more, whose rank is counted
_MANY = 40  # classes from which their dummies are no columns, but fitted by means


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
    model: Model | None = None  # what fits the same regression again, standard errors included
    by_refits: bool = False  # whether only refits of the model know about any claim
    response: Floats | None = None  # the outcome, where the design has another to search by
    model_rows: Ints | None = None  # the rows of the design among those of the model
    stated: StatedModel | None = None
    effects: tuple[str, ...] = ()  # the fixed effects that are absorbed, by name
    is_plain: bool = False  # whether there is nothing but x and y

    def least_squares(self, what: str) -> None:
        """Refuse to compute what only least squares has."""
        design = self.design
        if design.instrument is not None or design.link or self.by_refits:
            other = f"a {design.link} regression" if design.link else "an instrumented term"
            other = self.model.name if self.by_refits and self.model is not None else other
            raise ValueError(f"{what} is for least squares; got {other}")


def is_regression(x: Any, **more: Any) -> bool:
    """Whether a call of audit is about more than one predictor, or more than single rows."""
    described = is_formula(x) or models.is_model(x)
    return described or any(value is not None for value in more.values())


def read(
    x: Any, y: Any, *, controls: Any, groups: Any, weights: Any, data: Any, term: Any, vcov: Any,
    nan_policy: str, fit_options: dict[str, Any] | None = None,
) -> Regression:  # fmt: skip
    """The regression that the arguments of an audit describe."""
    validation.check_nan_policy(nan_policy)
    fixed = isinstance(controls, str) and controls == FIXED
    named = {"groups": groups, "weights": weights, "vcov": vcov}
    if is_formula(x) or models.is_model(x):
        if y is not None or (controls is not None and not fixed):
            raise TypeError("a formula or a fitted model has its own outcome and controls; "
                            "give neither y nor controls")  # fmt: skip
        if is_formula(x):
            if term is not None and not isinstance(term, str):
                raise ValueError("a formula has one term; several are tested at once in a fitted "
                                 f"model, such as smf.ols({x!r}, data).fit()")  # fmt: skip
            given = formulas.equation(x, data)
        else:
            tested = () if term is None or isinstance(term, str) else tuple(term)
            given = models.equation(x, data, fit_options, tested)
            term = None if tested else term
    else:
        if data is not None and isinstance(x, str) and isinstance(y, str):
            x, y, controls, term, named = _by_name(x, y, controls, data, term, named)
            data = None
        if isinstance(controls, str):
            raise ValueError(f"controls must be columns of numbers; got {controls!r} (controls="
                             "'fixed' goes with a formula or a fitted model)")  # fmt: skip
        if data is not None or term is not None:
            what = "data" if data is not None else "term"
            raise TypeError(f"{what} goes with a formula, a fitted model or names of columns; got "
                            f"{type(x).__name__} as x")  # fmt: skip
        given = _arrays(x, y, controls)
        term = given.names[0]
    return _clean(given, term, **named, nan_policy=nan_policy, fixed=fixed)


# ---- arrays -----------------------------------------------------------------------------------


def _by_name(x: str, y: str, controls: Any, data: Any, term: Any, named: dict[str, Any]) -> Any:
    """The columns of ``data`` in place of their names."""
    names = [controls] if isinstance(controls, str) else controls
    found = frames.columns_by_name(data, x=x, y=y, controls=names, **named)
    columns = found.pop("x"), found.pop("y"), found.pop("controls")
    return *columns, None if term == x else term, found


def _arrays(x: Any, y: Any, controls: Any) -> Equation:
    given = frames.unpack(x, y)
    if given.y is None:
        raise TypeError("an audit with controls, groups or weights needs x and y")
    xs, ys = validation.column(given.x, "x"), validation.column(given.y, "y")
    if len(xs) != len(ys):
        raise ValueError(f"x and y must have the same length; got {len(xs)} and {len(ys)}")
    names, z = _control_columns(controls, len(xs))
    return Equation(
        given.names[1], ys, (given.names[0], *names), np.column_stack([xs, z]),
        np.arange(len(xs)), len(xs), given.labels,
    )  # fmt: skip


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


# ---- the design -------------------------------------------------------------------------------


def _with_spanned_constant(names: list[str], z: Floats) -> tuple[list[str], Floats]:
    """Put an intercept in the place of one of the columns where these span a constant, as the
    dummies of all levels do: then R2 is about the mean, and there is an intercept to centre by."""
    if any(_is_constant(column) for column in z.T) or not spans_constant(z):
        return names, z
    found = independent(z, intercept=True)
    (gone,) = np.setdiff1d(independent(z, intercept=False), found)[-1:]
    names = ["Intercept", *(name for j, name in enumerate(names) if j != gone)]
    return names, np.column_stack([np.ones(len(z)), np.delete(z, gone, axis=1)])


def _term(given: Equation, term: Any) -> int:
    """The column whose coefficient is audited."""
    varying = [n for n, c in zip(given.names, given.X.T, strict=True) if not _is_constant(c)]
    varying = varying or list(given.names)  # the intercept alone: a mean
    term = given.term if term is None else term
    if given.endogenous is not None:
        term = given.endogenous if term is None else term
        if term != given.endogenous:
            raise ValueError(f"the term of a regression with instruments is {given.endogenous!r}; "
                             f"got {term!r}")  # fmt: skip
    if term is None:
        if len(varying) == 1:
            return given.names.index(varying[0])
        raise ValueError(f"give {argument('term')}, one of: {', '.join(varying)}")
    if term in given.names:
        return given.names.index(term)
    raise ValueError(f"no term {term!r} in the regression{hint(term, given.names)}")


def _instrument(given: Equation) -> tuple[str, Floats | None]:
    """The one instrument, or none."""
    if not given.instruments:
        return "", None
    names = [name for name, _ in given.instruments]
    if len(names) > 1:
        raise ValueError(f"one instrument is supported; got {', '.join(names)}")
    if names[0] in given.names:
        raise ValueError(f"the instrument {names[0]!r} is in the regression itself")
    return given.instruments[0]


def _clean(
    given: Equation, term: Any, groups: Any, weights: Any, vcov: Any, nan_policy: str, fixed: bool
) -> Regression:
    """The design on the rows without missing values."""
    at, rows = _term(given, term), given.rows
    instrument_name, instrument = _instrument(given)
    group, by = _labelled(groups, "groups", given)
    weight = given.weights if weights is None else _numbers(weights, given)
    errors = _errors(vcov, given)
    good = np.isfinite(given.y) & np.isfinite(given.X).all(axis=1) & errors.usable(len(rows))
    if instrument is not None:
        good &= np.isfinite(instrument)
    if weight is not None:
        good &= np.isfinite(weight)
        if np.any(weight[good] <= 0):
            raise ValueError(
                f"{argument('weights')} must be positive; got {float(weight[good].min()):g}"
            )
    for labels in (group, *(labels for _, labels in given.absorbed)):
        if labels is not None:
            good &= ~standard_errors.missing(labels)
    bad = len(rows) - int(good.sum())
    if bad and nan_policy == "raise":
        raise ValueError(f"the regression's columns must be finite; got {bad} rows with missing "
                         "values (nan_policy='omit' leaves them out)")  # fmt: skip
    if errors.kind == standard_errors.KNOWN and (weight is None or instrument is not None):
        raise ValueError("known variances need weights, 1 over the variance of each row, and no "
                         "instrument")  # fmt: skip
    unit, units = _units(None if group is None else group[good], int(good.sum()))
    others = [j for j in range(len(given.names)) if j != at]
    absorbed = tuple(standard_errors.numbered(labels[good]) for _, labels in given.absorbed)
    names, z = [given.names[j] for j in others], given.X[good][:, others]
    by_means = not given.link and instrument is None
    classes = _most_levels(absorbed) if by_means and absorbed else None
    listed: list[str] = []
    if absorbed:
        names, listed, z = _with_dummies(names, z, given, absorbed, classes)
    names, z = _with_spanned_constant(names, z)
    stated = _state(given, at, rows[good], good, errors.select_rows(good), absorbed, weight)
    every = Design(
        given.X[good, at], (given.y if given.working is None else given.working)[good], z,
        next((i for i in range(z.shape[1]) if _is_constant(z[:, i])), None),
        None if weight is None else weight[good], unit, units,
        given.names[at], given.outcome, tuple(names), absorbed=absorbed,
        instrument=None if instrument is None else instrument[good],
        instrument_name=instrument_name, link=given.link,
        classes=None if classes is None else absorbed[classes],
        listed=() if classes is None else tuple(listed),
    )  # fmt: skip
    if by_means and classes is None:
        every = _by_means(every)
    design = without_dependent(every)
    dependent = tuple((Counter(every.names) - Counter(design.names)).elements())
    _check(design)
    if design.listed and dependent:
        design = replace(design, listed=tuple(n for n in design.listed if n not in dependent))
    if fixed:
        design = residualised(design)
    errors = errors.select_rows(good)
    if given.evaluate is not None and not errors.singletons and len(absorbed) > 1:
        errors = replace(errors, beside=_count_beside(design, absorbed))
        stated = replace(stated, errors=errors)
    overridden = fixed or weights is not None or vcov is not None
    if overridden and given.working is not None and given.model is not None:
        raise ValueError(f"{given.model.name} are audited by refits of the model as it is; give "
                         "none of vcov, weights and controls")  # fmt: skip
    return Regression(
        design, rows[good], given.given, errors, by, given.labels, fixed,
        given.table, dependent, None if overridden else given.model,
        given.working is not None, None if given.working is None else given.y[good],
        np.flatnonzero(good), stated, tuple(name for name, _ in given.absorbed),
    )  # fmt: skip


def _state(
    given: Equation, at: int, rows: Ints, good: Mask, errors: StandardErrors,
    absorbed: tuple[Ints, ...], weight: Floats | None,
) -> StatedModel:  # fmt: skip
    """The regression as it was stated: every column, whatever it depends on."""
    term, n = given.names[at], len(rows)
    controls, (name, instrument) = np.delete(given.X[good], at, axis=1), _instrument(given)
    design = Design(
        given.X[good, at], given.y[good], controls,
        next((i for i in range(controls.shape[1]) if _is_constant(controls[:, i])), None),
        None if weight is None else weight[good], np.arange(n), None, term, given.outcome,
        tuple(np.delete(np.asarray(given.names, dtype=object), at)), absorbed=absorbed,
        instrument=None if instrument is None else instrument[good], instrument_name=name,
        link=given.link,
    )  # fmt: skip

    def evaluate(kept: Ints) -> Columns | None:
        assert given.evaluate is not None
        among = np.delete(np.arange(given.given), np.delete(rows, kept))
        try:
            anew = given.evaluate(among)
        except ValueError:  # a factor without levels, a transform without values
            return None
        if term not in anew.names:
            return None
        at, j = np.searchsorted(among, rows[kept]), anew.names.index(term)
        y, X = anew.y[at], anew.X[at]
        if not (np.isfinite(y).all() and np.isfinite(X).all()):
            return None
        return y, X[:, j], np.delete(X, j, axis=1)

    return StatedModel(design, errors, None if given.evaluate is None else evaluate)


def _most_levels(absorbed: tuple[Ints, ...]) -> int | None:
    """The fixed effect that is fitted by means, if it has many levels."""
    levels = [int(codes.max()) + 1 for codes in absorbed]
    return int(np.argmax(levels)) if max(levels) > _MANY else None


def _count_beside(design: Design, absorbed: tuple[Ints, ...]) -> int:
    """The columns beside fixed effects of which some explain others; 0 where none do."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    codes = np.unique(np.column_stack(absorbed), axis=0)
    sizes = codes.max(axis=0) + 1
    levels, first = int(sizes.sum()), np.cumsum(sizes) - sizes
    at = (codes + first).ravel()
    if len(sizes) == 2:  # a graph has as many parts as its incidence matrix lacks in rank
        graph = csr_array((np.ones(len(codes)), (at[::2], at[1::2])), shape=(levels, levels))
        rank = levels - int(connected_components(graph, directed=False)[0])
    elif levels <= _MOST_LEVELS:
        rows = np.repeat(np.arange(len(codes)), len(sizes))
        dummies = csr_array((np.ones(len(at)), (rows, at)), shape=(len(codes), levels))
        rank = int(np.linalg.matrix_rank((dummies.T @ dummies).toarray(), hermitian=True))
    else:
        return 0
    return 0 if rank == levels - (len(sizes) - 1) else design.span.rank + 1 + design.fixed - rank


def _by_means(design: Design) -> Design:
    """Without the dummies of a partition, where they are many."""
    if design.q <= _MANY:
        return design
    of_row, others = partition(design.controls, None)
    if len(np.unique(of_row[of_row >= 0])) <= _MANY:
        return design
    keep = np.union1d(others, [] if design.intercept is None else [design.intercept]).astype(int)
    return replace(design.with_controls(keep.tolist()), classes=of_row, listed=design.names)


def _with_dummies(
    names: list[str], z: Floats, given: Equation, absorbed: tuple[Ints, ...], classes: int | None
) -> tuple[list[str], list[str], Floats]:
    """Columns of the controls followed by an intercept and the dummies of fixed effects, but for
    the one that is fitted by means; their names, and those of all."""
    levels = [int(codes.max()) + 1 for codes in absorbed]
    dummies = [i for i in range(len(levels)) if i != classes]
    if len(z) * sum(levels[i] for i in dummies) > _MOST_DUMMIES:
        many = " and ".join(f"{given.absorbed[i][0]} ({levels[i]:,})" for i in dummies)
        raise ValueError(f"fixed effects with so many levels are not supported for {len(z):,} "
                         f"rows: {many}")  # fmt: skip
    columns, called = [z], list(names)
    if not any(_is_constant(column) for column in z.T):
        columns, called = [np.ones((len(z), 1)), z], ["Intercept", *names]
    listed = list(called)
    for i, (name, _) in enumerate(given.absorbed):
        listed += (each := [f"{name}[{level}]" for level in range(1, levels[i])])
        if i != classes:
            columns.append((absorbed[i][:, None] == np.arange(1, levels[i])).astype(np.float64))
            called += each
    return called, listed, np.column_stack(columns)


def _units(group: Any, n: int) -> tuple[Ints, Sequence[Any] | None]:
    if group is None:
        return np.arange(n), None
    names: dict[Any, int] = {}
    unit = np.array([names.setdefault(g, len(names)) for g in group.tolist()], dtype=np.int64)
    return unit, list(names)


def _labelled(what: Any, name: str, given: Equation) -> tuple[Any, str]:
    """Labels of the rows in use, from a column's name or as given, and what they are called."""
    if what is None:
        return None, ""
    if isinstance(what, str):
        levels = getattr(getattr(given.table, "index", None), "names", ())
        if what in levels and what not in given.table.columns:
            return np.asarray(given.table.index.get_level_values(what))[given.rows], what
        if given.table is None or what not in getattr(given.table, "columns", ()):
            raise ValueError(f"{name}: no column {what!r} in the data")
        return np.asarray(given.table[what])[given.rows], what
    labels = np.asarray(what)
    if labels.shape != (given.given,):
        raise ValueError(f"{name} must be one label a row, {given.given} of them; got shape "
                         f"{labels.shape}")  # fmt: skip
    return labels[given.rows], str(getattr(what, "name", None) or name)


def _numbers(weights: Any, given: Equation) -> Floats:
    return validation.column(_labelled(weights, "weights", given)[0], "weights")


def _errors(vcov: Any, given: Equation) -> StandardErrors:
    """Those asked for, or else the fitted model's own."""
    if vcov is None and given.errors is not None:
        return given.errors
    return standard_errors.asked_for(vcov, lambda what: _labelled(what, "vcov", given))


def _check(design: Design) -> None:
    """There must be a coefficient to audit."""
    n, q = design.n, design.q
    if n < (least := max(4, q + 3)):
        raise ValueError(f"an audit needs at least {least} rows for {q} controls and the intercept "
                         f"included; got {n}")  # fmt: skip
    if design.size < 2:
        raise ValueError(f"{argument('groups')} must be at least two; got one")
    if np.all(design.y == design.y[0]):
        raise ValueError(f"{design.outcome} is constant ({design.y[0]:g} in all {n} rows)")
    if explained(design, design.x):
        raise ValueError(f"the controls explain {design.term} on all rows, up to rounding, so "
                         "there is no coefficient")  # fmt: skip


def without_dependent(design: Design) -> Design:
    """Without controls that those before them explain on all rows, up to rounding."""
    at, z = design.intercept, design.controls
    others = np.delete(np.arange(z.shape[1]), [] if at is None else [at])
    found = others[_independent(design, z[:, others])]
    keep = sorted([*found, *([] if at is None else [at])])
    return design if len(keep) == z.shape[1] else design.with_controls(keep)


def _independent(design: Design, columns: Floats) -> Ints:
    """Positions of the columns that the intercept, the classes and those before do not explain."""
    if design.classes is None:
        return independent(columns, design.intercept is not None)
    about = Classes(design.classes, np.ones(design.n)).subtract_means(columns)
    about[np.abs(about) <= DEPENDENT * (np.abs(columns) + np.abs(columns - about))] = 0.0
    return independent(about, intercept=False, before=columns)


def explained(design: Design, column: Floats) -> bool:
    """Whether the controls explain a further column on all rows, up to rounding."""
    at, z = design.intercept, design.controls
    others = z if at is None else np.delete(z, at, axis=1)
    return others.shape[1] not in _independent(design, np.column_stack([others, column]))


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
        classes=None,
        fixed=m.rank,
    )


FEWEST_KEPT = 3
_NAMED = 4  # controls that a sentence names
_FACTOR = re.compile(r"\[[^\[]*\]$")  # the level of a factor, in the name of its dummy


def two_columns(x: Any, y: Any, data: Any = None, *, nan_policy: str) -> Regression:
    """Two columns, read as ``solve`` does, as the regression with an intercept alone."""
    given = unpack(x, y, data)
    columns = columns_of(given.x)
    if columns is not None and len(columns) > 1:
        raise ValueError(_which(given.names))
    points = pose(given, None, objective="r", nan_policy=nan_policy).points
    n = points.n
    if n < FEWEST_KEPT + 1:
        raise ValueError(f"an audit needs at least 4 rows; got {n}")
    term, outcome = given.names
    design = Design(
        points.x, points.y, np.ones((n, 1)), 0, None, np.arange(n), None, term, outcome,
        ("Intercept",),
    )  # fmt: skip
    return Regression(
        design, points.rows, points.given, StandardErrors(), "", given.labels, table=given.frame,
        is_plain=True,
    )  # fmt: skip


def _which(names: Sequence[str]) -> str:
    """What to give where x has several columns: a claim is about one of them."""
    *predictors, outcome = names
    return (
        f"x has {len(predictors)} columns ({', '.join(predictors)}): give the one the claim is "
        "about as x and the others as controls=, or a formula: "
        f"audit('{outcome} ~ {' + '.join(predictors)}', data=frame, term={predictors[0]!r})"
    )


def drop_limit(max_drop: Any, size: int, kept: int = FEWEST_KEPT, what: str = "rows") -> int:
    """The most that may be removed, from what the user gives; so many must be kept."""
    if max_drop is None:
        return size - kept
    most = validation.count(max_drop, "max_drop", size)
    if not 1 <= most <= size - kept:
        raise ValueError(
            f"{argument('max_drop', max_drop)} removes up to {most} of {size} {what}; "
            f"between 1 and n - {kept} = {size - kept} are allowed"
        )
    return most


def units_limit(max_drop: Any, design: Design) -> int:
    """The same of a design: groups, or rows that leave a degree of freedom."""
    if design.units is not None:
        return drop_limit(max_drop, design.size, 1, "groups")
    return drop_limit(max_drop, design.n, max(FEWEST_KEPT, design.q + 2))


def phrase(given: Regression) -> str:
    """What is audited: "the coefficient of educ (given exper and tenure)", or a mean."""
    design = given.design
    term = f"the coefficient of {design.term}"
    if given.errors.by == standard_errors.JOINT:
        term = f"the joint test of {design.term}"
    if np.all(design.x == design.x[0]) and not (given.by_refits or design.link):
        if not design.q and not given.fixed and design.x[0] == 1:
            return (
                f"the {'mean' if design.weights is None else 'weighted mean'} of {design.outcome}"
            )
        term = "the intercept"
    constant = None if design.intercept is None else design.names[design.intercept]
    others = [name for name in design.listed or design.names if name != constant]
    others = [name for name in others if name not in ("Intercept", "const")]
    others = list(dict.fromkeys(_FACTOR.sub("", name) for name in others))
    how = "given" if not given.fixed else "with fixed"
    about = [f"instrumented by {design.instrument_name}"] if design.instrument_name else []
    about += [f"{how} {_listed(others)}"] if others else []
    return f"{term} ({', '.join(about)})" if about else term


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
