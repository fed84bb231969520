"""The model as the user stated it, fitted again before anything is said of it.

The fit shares nothing with the columns that the search works on: a formula is evaluated anew on the
rows kept, effects have their dummies, one QR decomposition takes the whole design, and standard
errors follow their textbook formula with that rank. A fitted model is fitted again by its library.
Where the figures differ from those of the audit, the audit says so and does not state the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.claims import (
    Condition,
    CorrelationAbove,
    CorrelationBelow,
    SlopeBeyond,
)
from quadsweep.auditing.classes import partition
from quadsweep.auditing.controls.robust import (
    CLEAR,
    TermFit,
    count_columns,
    drop_singletons,
    student,
)
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Sums
from quadsweep.inputs.fitted.protocol import Model
from quadsweep.inputs.standard_errors import KNOWN, StandardErrors

FROZEN = "transforms fixed at all rows"
UNDEFINED = " Removals after which the term has no figures are not counted."
AGREE = 1e-6  # relative: what two fits in double precision may differ by
_DEPENDENT = 1e-12  # of a column's length: what is left then is rounding
_UNCLEAR = 1e-7  # of a column's length: down to here doubles tell the figures of a fit
_SQUARED = 1e140  # numbers up to here, and down to one over it, have squares
_BLOCK = 500_000  # rows of a block of a QR decomposition
_STEPS, _SETTLED = 50, 1e-10  # of a linear predictor
_MANY = 150  # columns from which on dummies of a partition are fitted by their means

Columns = tuple[Floats, Floats, Floats]  # the outcome, the term and the controls


@dataclass(frozen=True, eq=False)
class StatedModel:
    """A regression as it was stated, on the rows in use.

    Attributes
    ----------
    design : the columns as they were read, dependent ones among them, without dummies of effects.
    errors : the standard errors of its test.
    evaluate : returns the columns as computed anew from some rows, or None if one is gone there;
        None where the columns are numbers as given.
    """

    design: Design
    errors: StandardErrors
    evaluate: Callable[[Ints], Columns | None] | None = None

    def refit(self, kept: Ints) -> TermFit | None:
        """Fit the columns as read to some rows; None where doubles do not tell the figures."""
        d = self.design
        if d.link:
            return _fit_link(d, kept)
        return _fit(d, self.errors, kept, (d.y[kept], d.x[kept], d.controls[kept]))

    def hold_controls(self) -> StatedModel | None:
        """The same with what the controls leave of the outcome and the term on all rows, as if
        they were the data; None where doubles do not tell it."""
        d, everything = self.design, np.arange(self.design.n)
        root = d.root_weights
        dummies = [_indicators(codes, i > 0) for i, codes in enumerate(d.absorbed)]
        found = _ControlsProjection.fit_columns(np.column_stack([d.controls, *dummies]), root)
        if found is None:
            return None
        x, y = (found.residual(root * _centred(v) if d.is_centred else root * v) / root
                for v in (d.x, d.y))  # fmt: skip
        held = replace(
            d, x=x, y=y, controls=np.zeros((len(everything), 0)), intercept=None, fixed=found.rank
        )
        return StatedModel(held, self.errors)

    def has_moving_transforms(self, kept: Ints) -> bool:
        """Whether computing the columns anew from some rows changes the figures."""
        if self.evaluate is None or len(kept) == self.design.n:
            return False
        columns, d = self.evaluate(kept), self.design
        if columns is None:
            return True
        before = (d.y[kept], d.x[kept], d.controls[kept])
        if all(np.array_equal(*pair) for pair in zip(columns, before, strict=True)):
            return False
        here, anew = self.refit(kept), _fit(d, self.errors, kept, columns)
        return here is not None and (anew is None or bool(find_difference(here, anew)))


@dataclass(frozen=True)
class Confirmed:
    """What fitting the model again says of a removal.

    Attributes
    ----------
    after : the fit without it; None if there is no removal, or if it is not stated.
    remark : what the audit's sentence has to say: why it is not stated, or what was held fixed.
    is_undefined : whether the model has no figures without it.
    """

    after: Any = None
    remark: str = ""
    is_undefined: bool = False

    def amend(self, message: str) -> str:
        """The sentence of an audit with the remark."""
        if self.after is None and self.remark != FROZEN:
            return f"{message} {self.remark}"
        first, stop, rest = message.partition(". ")
        return f"{first.removesuffix('.')} ({self.remark}){stop or '.'}{rest}"


def check_all_rows(stated: StatedModel, before: Any) -> Any:
    """Return the fit to all rows if fitting again gives the same figures, or raise."""
    again = stated.refit(np.arange(stated.design.n))
    if again is not None and (apart := find_difference(before, again)):
        raise ValueError(f"the regression was fitted again to all rows, and {apart}: it is not "
                         "audited")  # fmt: skip
    return before


def confirm_removal(stated: StatedModel, kept: Ints, after: Any) -> Confirmed:
    """Compare the fit to the rows kept with that of the model as it was stated."""
    gone = stated.design.n - len(kept)
    rows = f"{gone:,} row{'s' * (gone != 1)}"
    again = stated.refit(kept)
    if again is not None and (apart := find_difference(after, again)):
        return Confirmed(None, f"One of {rows} is not stated: fitted again without them, {apart}.")
    return Confirmed(after, FROZEN if stated.has_moving_transforms(kept) else "")


def confirm_by_library(
    model: Model, undefined: str, searched: TermFit, after: TermFit, conditions: Sequence[Condition]
) -> Confirmed:
    """Ask whether the model, fitted again by its library, breaks the claim as its columns do.

    ``searched`` is the fit of its columns to the rows kept, ``after`` what the library says.
    """
    if undefined:
        return Confirmed(None, f"One is not stated: without its rows {undefined}.", True)
    if not any(is_broken_by(condition, after) for condition in conditions):
        apart = find_difference(searched, after)
        return Confirmed(None, f"One is not stated: fitted again by {model.name}, {apart}.")
    moved = abs(searched.slope - after.slope) > AGREE * max(abs(after.slope), after.se)
    return Confirmed(after, FROZEN if moved else "")


def is_broken_by(condition: Condition, fit: TermFit) -> bool:
    """Whether the figures of a fit break a claim, up to rounding; R2 is not among them."""
    if isinstance(condition, SlopeBeyond):
        return condition.sign * (fit.slope - condition.beta) > 0
    if not isinstance(condition, (CorrelationAbove, CorrelationBelow)) or fit.freedom < 1:
        return True
    t = student(fit.t, fit.freedom) if fit.statistic == "z" else fit.t
    r = t / math.sqrt(fit.freedom + t * t)
    sums = Sums(fit.freedom + 1, 0, 1.0, 1.0, r, 1.0)
    return float(condition.excess(sums, (1.0, 1.0))) > -CLEAR


def rows_of_probe(n: int) -> Ints:
    """Most of so many rows, to see whether columns move as rows go."""
    return np.flatnonzero(np.arange(n) % 7 != 3)


def can_lose_figures(d: Design, fewer: int) -> bool:
    """Whether without so many units a term may have no figures: the rows may be separated, or a
    column may be constant on those kept."""
    if d.link or d.absorbed or d.classes is not None:
        return fewer > 0
    gone = int(np.sort(np.bincount(d.unit))[::-1][:fewer].sum())
    varying = [np.unique(column, return_counts=True)[1] for column in (d.x, *d.controls.T)]
    return any(len(counts) > 1 and d.n - int(counts.max()) <= gone for counts in varying)


def find_difference(stated: Any, again: TermFit) -> str:
    """Name the first figure in which two fits differ, and both values; "" if they agree.

    >>> from dataclasses import replace
    >>> one = TermFit(30, 2.0, math.nan, 0.5, 0.4, 0.04, 0.9, 2.2, 27)
    >>> find_difference(one, replace(one, se=0.91)), find_difference(one, one)
    ('the standard error is 0.91, and 0.9 here', '')
    """
    size = max(abs(again.slope), again.se if again.se > 0 else 0.0)
    pairs = [("the coefficient is", again.slope, stated.slope, size)]
    if math.isfinite(again.t):
        if isinstance(stated, TermFit):
            t = max(abs(again.t), 1.0)
            pairs += [
                ("the standard error is", again.se, stated.se, again.se),
                (f"the {again.statistic} statistic is", again.t, stated.t, t),
            ]
            if again.freedom >= 0:
                pairs.append(("the degrees of freedom are", again.freedom, stated.freedom, 0.0))
        p = max(1.0, again.t**2) * max(again.p_value, 1e-12)
        pairs += [("p is", again.p_value, stated.p_value, p), ("R² is", again.r2, stated.r2, 1.0)]
    for name, theirs, ours, unit in pairs:
        if math.isfinite(theirs) and not abs(theirs - ours) <= AGREE * unit:
            return f"{name} {theirs:.6g}, and {ours:.6g} here"
    return ""


# ---- the fit ------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _fit(d: Design, errors: StandardErrors, kept: Ints, columns: Columns) -> TermFit | None:
    """Fit the whole design to some rows, by two stages where the term is instrumented."""
    y, x, controls = columns
    if not errors.singletons:
        left = drop_singletons(d, kept)
        y, x, controls = (v[np.isin(kept, left)] for v in columns)
        kept = left
    z = x if d.instrument is None else d.instrument[kept]
    absorbed = () if d.fixed else d.absorbed
    if d.intercept is not None or absorbed:  # far from zero a column shows little of itself
        x, y, z = _centred(x), _centred(y), _centred(z)
        far = np.abs(controls).max(axis=0, initial=0.0)
        controls = np.column_stack([controls[:, :0], *map(_centred, controls.T)])
        if np.any(np.abs(controls).max(axis=0, initial=0.0) <= _UNCLEAR**1.5 * far):
            return None  # its digits are mostly those of its distance from zero
    root = np.ones(len(kept)) if d.weights is None else np.sqrt(d.weights[kept])
    dummies = [_indicators(codes[kept], i > 0) for i, codes in enumerate(absorbed)]
    found = _ControlsProjection.fit_columns(np.column_stack([controls, *dummies]), root)
    if found is None:
        return None
    u, v, w = (found.residual(root * column) for column in (z, x, y))
    a, moved = float(u @ u), float(u @ v)
    if not all(1 / _SQUARED < float(np.abs(column).max()) < _SQUARED for column in (x, y, z)):
        return None
    lengths = [float(np.linalg.norm(root * column)) for column in (z, x)]
    if not math.sqrt(a) > _UNCLEAR * lengths[0]:
        return None
    if not abs(moved) > _UNCLEAR * math.sqrt(a) * lengths[1]:
        return None
    if not float(w @ w) > _UNCLEAR**2 * float((root * y) @ (root * y)):
        return None
    slope = float(u @ w) / moved
    rest = w - slope * v
    total = root * y
    if (d.is_centred or d.absorbed) and not d.fixed:
        total = total - root * float(root @ total) / float(root @ root)
    used = found.rank + 1 + d.fixed
    counted = count_columns(d, kept, errors, used)
    if errors.reduced_form:
        tested = w - float(u @ w) / a * u
        freedom, top, se = len(kept) - used, float(u @ w) / a, math.nan
        variance = float(tested @ tested) / a / freedom if freedom > 0 else math.nan
    else:
        leverage = found.leverage + u * u / a
        freedom, variance = _variance(errors, kept, u / moved, rest, leverage, used, counted)
        top, se = slope, math.sqrt(variance) if variance > 0 else math.nan
    exact = not float(rest @ rest) > _UNCLEAR**2 * float(w @ w)
    t = top / math.sqrt(variance) if variance > 0 and not exact else math.nan
    about = float(total @ total)
    r2 = 1 - float(rest @ rest) / about if about > 0 else math.nan
    return TermFit(
        len(kept), slope, math.nan, math.nan, r2, _p_value(t, freedom, errors.normal),
        math.nan if exact else se, t, freedom, "z" if errors.normal else "t",
    )  # fmt: skip


def _fit_link(d: Design, kept: Ints) -> TermFit | None:
    """Fit a logistic or Poisson regression by iterated least squares of its columns; None where
    these steps do not settle."""
    X = np.column_stack([d.x[kept], d.controls[kept]])
    y, w = d.y[kept], np.ones(len(kept)) if d.weights is None else d.weights[kept]
    X = np.column_stack([X[:, :1] - np.median(X[:, 0]) * (d.intercept is not None), X[:, 1:]])
    size = np.abs(X).max(axis=0, initial=0.0)
    if size[0] == 0:
        return None
    X, eta, last = X[:, size > 0] / size[size > 0], _start(d.link, y), np.inf
    for _ in range(_STEPS):
        mean = 1 / (1 + np.exp(-eta)) if d.link == "logit" else np.exp(eta)
        curve = w * (mean * (1 - mean) if d.link == "logit" else mean)
        if not curve.min() > 0 or not np.isfinite(curve).all():
            return None
        q, r = np.linalg.qr(np.sqrt(curve)[:, None] * X)
        if np.abs(np.diag(r)).min() < _UNCLEAR * np.abs(np.diag(r)).max():
            return None
        beta = np.linalg.solve(r, q.T @ (np.sqrt(curve) * (eta + w * (y - mean) / curve)))
        apart, eta = float(np.abs(X @ beta - eta).max()), X @ beta
        if apart < _SETTLED:
            se = float(np.linalg.norm(np.linalg.inv(r)[0])) / size[0]
            slope, nan = float(beta[0]) / size[0], math.nan
            p = _p_value(slope / se, 1, True)
            return TermFit(len(kept), slope, nan, nan, nan, p, se, slope / se, -1, "z")
        if apart > 2 * last:
            return None
        last = max(apart, 1.0)
    return None


def _start(link: str, y: Floats) -> Floats:
    """A linear predictor from which the steps set out: that of outcomes moved to their middle."""
    middle = (y + 0.5) / 2 if link == "logit" else (y + float(y.mean())) / 2
    return np.asarray(np.log(middle / (1 - middle)) if link == "logit" else np.log(middle))


def _variance(
    errors: StandardErrors, kept: Ints, h: Floats, rest: Floats, leverage: Floats, used: int,
    counted: int,
) -> tuple[int, float]:  # fmt: skip
    """Degrees of freedom, and the variance of the estimate h'y, by the textbook."""
    n, spare = len(rest), len(rest) - counted
    if n <= used:
        return n - used, math.nan
    if errors.kind == "classical":
        return spare, float(h @ h) * float(rest @ rest) / (spare if errors.k_adj else n - 1)
    if errors.kind == KNOWN:
        return spare, float(h @ h)
    if errors.kind != "cluster":
        left = (1 - leverage) ** {"HC2": 1, "HC3": 2}.get(errors.kind, 0)
        squares = np.where(1 - leverage > 1e-10, (h * rest) ** 2 / left, 0.0)
        return spare, (n / spare if errors.k_adj else 1.0) * float(squares.sum())
    ways = [labels[kept] for labels in errors.clusters]
    if len(ways) == 2:
        ways.append(np.unique(np.column_stack(ways), axis=0, return_inverse=True)[1].ravel())
    total, sizes = 0.0, [len(np.unique(way)) for way in ways]
    fewest = min(sizes)
    if fewest < 2:
        return fewest, math.nan
    for way, size, sign in zip(ways, sizes, (1, 1, -1), strict=False):
        g = fewest if errors.g_min else size
        by_cluster = np.bincount(np.unique(way, return_inverse=True)[1], h * rest)
        total += sign * (g / (g - 1) if errors.g_adj else 1.0) * float((by_cluster**2).sum())
    factor = (n if errors.k_only else n - 1) / spare if errors.k_adj else 1.0
    return (fewest - 1 if errors.cluster_freedom else n - used), factor * total


def _p_value(t: float, freedom: int, normal: bool) -> float:
    from scipy.special import ndtr, stdtr

    if freedom < 1:
        return math.nan
    return float(2 * (ndtr(-abs(t)) if normal else stdtr(freedom, -abs(t))))


def _centred(column: Floats) -> Floats:
    return column if np.ptp(column) == 0 else np.asarray(column - np.median(column))


def _indicators(codes: Ints, less_one: bool) -> Floats:
    present = np.unique(codes)[int(less_one) :]
    return np.asarray(codes[:, None] == present, dtype=np.float64)


class _ControlsProjection:
    """On the span of some columns times the roots of the weights."""

    def __init__(self, q: Floats, codes: Ints | None, e: Floats, classes: int) -> None:
        self._q, self._codes, self._e = q, codes, e
        self.rank = q.shape[1] + classes

    @classmethod
    def fit_columns(cls, columns: Floats, root: Floats) -> _ControlsProjection | None:
        """None where doubles do not tell which columns depend on which."""
        codes, e, classes = None, np.zeros(len(root)), 0
        largest = np.abs(columns).max(axis=0, initial=0.0)
        Z = root[:, None] * (columns / np.where(largest > 0, largest, 1.0))
        before = np.maximum(np.linalg.norm(Z, axis=0), 1 / _SQUARED)
        if columns.shape[1] > _MANY:
            of_row, others = partition(columns, None)
            classes = len(np.unique(of_row[of_row >= 0]))
            if classes > _MANY // 2:
                codes, weight = of_row + 1, np.bincount(of_row + 1, root**2)
                e = np.where(codes > 0, root / np.sqrt(np.maximum(weight[codes], 1e-300)), 0.0)
                Z, before = Z[:, others], before[others]
            else:
                classes = 0
        self = cls(np.zeros((len(root), 0)), codes, e, classes)
        if codes is not None:
            Z = np.array([self.residual(column) for column in Z.T]).reshape(Z.shape[::-1]).T
        left = np.linalg.norm(Z, axis=0)
        used = left > _DEPENDENT * before
        if np.any(used & (left < _UNCLEAR * before)):
            return None
        q = _orthonormal(Z[:, used] / before[used])
        return None if q is None else cls(q, codes, e, classes)

    def residual(self, column: Any) -> Floats:
        """What the columns leave of another, projected twice against rounding."""
        for _ in range(2):
            if self._codes is not None:
                mean = np.bincount(self._codes, self._e * column)
                column = column - self._e * mean[self._codes]
            if self._q.shape[1]:
                column = column - self._q @ (self._q.T @ column)
        return np.asarray(column)

    @property
    def leverage(self) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self._q, self._q) + self._e**2)


def _orthonormal(Z: Floats) -> Floats | None:
    """A basis by QR, in blocks of rows; None where it is not clear how many columns it has."""
    from scipy.linalg import qr, solve_triangular

    if Z.shape[1] == 0:
        return Z
    r: Any
    blocks = [np.linalg.qr(Z[i : i + _BLOCK], mode="r") for i in range(0, len(Z), _BLOCK)]
    r, order = np.asarray(np.linalg.qr(np.vstack(blocks), mode="r")), np.arange(Z.shape[1])
    if len(r) < len(order) or np.abs(np.diag(r)).min() < _UNCLEAR:
        pivoted: Any = qr(np.vstack(blocks), mode="r", pivoting=True)
        r, order = pivoted[0], pivoted[1]
    pivots = np.abs(np.diag(r))
    rank = int((pivots > _DEPENDENT).sum())
    if np.any((pivots > _DEPENDENT) & (pivots < _UNCLEAR)):
        return None
    q = Z[:, order[:rank]]
    for _ in range(2):  # the second takes off what rounding left of the first
        r = np.linalg.qr(q, mode="r") if len(q) <= _BLOCK else np.linalg.cholesky(q.T @ q).T
        q = solve_triangular(r, q.T, trans="T").T
    return np.asarray(q)
