"""The test of a coefficient with the standard errors asked for; ``oracles`` has the proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import CorrelationAbove, CorrelationBelow, SlopeBeyond
from quadsweep.auditing.design import Design
from quadsweep.auditing.exact_tests import ExactTests
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.moments import Moments, Sums
from quadsweep.auditing.span import Span, basis
from quadsweep.inputs.standard_errors import KNOWN, OWN, StandardErrors
from quadsweep.results.formatting import chance

CLEAR = 1e-7  # of a correlation: what is nearer to its threshold is not decided by doubles
_HUGE = 1e150  # instead of a t beyond all numbers
_ROUNDED = 1e-11  # of the coefficient or its unit: a standard error that may be rounding


@dataclass(frozen=True)
class TermFit(Fit):
    """What a multiple regression says about one coefficient.

    ``slope`` is the coefficient, ``r`` the partial correlation given the controls, ``r2`` the
    multiple R2; ``intercept`` is NaN where the regression has none. ``t`` is the statistic of the
    test and ``statistic`` its name: "t", "z", or "t of the reduced form" of an Anderson-Rubin test,
    which does not use ``se``.
    """

    se: float = math.nan
    t: float = math.nan
    freedom: int = 0
    statistic: str = "t"

    def __str__(self) -> str:
        if self.statistic == "F":  # of several terms
            return f"statistic {self.slope:.4g}, {chance(self.p_value)}   ({self.n:,} rows)"
        return (
            f"coefficient {self.slope:.4g}, standard error {self.se:.3g}, {self.statistic} "
            f"{self.t:.3g}, {chance(self.p_value)}{self._share}   ({self.n:,} rows)"
        )

    @property
    def _share(self) -> str:
        return "" if math.isnan(self.r2) else f", R² {self.r2:.4g}"


@np.errstate(over="ignore", invalid="ignore")
def fit_term(design: Design, kept: Ints, errors: StandardErrors) -> TermFit:
    """The coefficient of the term on some rows, all controls refitted; with an instrument, that of
    two-stage least squares."""
    nan, n = math.nan, len(kept)
    nothing = TermFit(n, nan, nan, nan, nan, nan)
    if not errors.singletons:
        kept = drop_singletons(design, kept)
    root = design.root_weights[kept]
    x, y, z = (v[kept] for v in design.scaled)
    if len(kept) == design.n:
        space = design.span
    else:
        space = Span(z, root, None if design.classes is None else design.classes[kept])
    s = design.scaled_instrument[kept]
    u, w = space.residual(s), space.residual(y)
    right = u if design.instrument is None else space.residual(x)
    a, moved = float(u @ u), float(u @ right)
    if not a > 1e-24 * max(float(s @ s), 1e-300) or moved == 0:
        return nothing
    b, c = float(w @ w), float(u @ w)
    slope = c / moved
    rest = w - slope * right
    used = space.rank + 1 + design.fixed
    counted = count_columns(design, kept, errors, used)
    about = design.y[kept]
    for _ in range(2 if design.is_centred else 0):  # the mean is rounded
        about = about - float((root * root) @ about) / float((root * root).sum())
    total = float(((root * about) ** 2).sum())
    freedom, variance = _variance(u, rest, space.leverage, (len(kept), used, counted), errors, kept)
    variance *= (a / moved) ** 2
    se = math.sqrt(variance) if freedom >= 1 and variance >= 0 else math.nan
    t = slope / se if se > 0 else math.copysign(math.inf, slope) if se == 0 else math.nan
    name = "z" if errors.normal else "t"
    if errors.reduced_form:
        tested = w - c / a * u
        freedom, variance = len(kept) - used, float(tested @ tested) / a / max(len(kept) - used, 1)
        t, name = c / a / math.sqrt(variance) if variance > 0 else math.nan, "t of the reduced form"
    return TermFit(
        n=n,
        slope=slope,
        intercept=_intercept(design, kept, slope, space),
        r=c / (math.sqrt(a) * math.sqrt(b)) if b > 0 and design.instrument is None else math.nan,
        r2=1 - float(rest @ rest) / total if total > 0 else math.nan,
        p_value=_p_value(t, freedom, errors.normal),
        se=se,
        t=t,
        freedom=freedom,
        statistic=name,
    )


def _p_value(t: float, freedom: int, normal: bool) -> float:
    from scipy.special import ndtr, stdtr

    if freedom < 1:
        return math.nan
    return float(2 * (ndtr(-abs(t)) if normal else stdtr(freedom, -abs(t))))


def _variance(
    u: Floats, rest: Floats, leverage: Floats, counts: tuple[int, int, int], errors: StandardErrors,
    kept: Ints,
) -> tuple[int, float]:  # fmt: skip
    """Degrees of freedom of the test, and the variance of the coefficient.

    ``counts`` are the rows, the columns, and the columns that the factors count.
    """
    k, used, counted = counts
    a, freedom = float(u @ u), k - counted
    if k - used < 1 or errors.kind == OWN:
        return k - used, math.nan
    if errors.kind == "classical":
        return freedom, float(rest @ rest) / (freedom if errors.k_adj else k - 1) / a
    if errors.kind == KNOWN:
        return freedom, 1 / a
    score = u * rest
    if errors.kind == "cluster":
        g, total = _clustered(score, errors, kept)
        factor = (k - (not errors.k_only)) / freedom if errors.k_adj else 1.0
        return (g - 1 if errors.cluster_freedom else k - used), factor * total / a**2
    power = {"HC2": 0.5, "HC3": 1.0}.get(errors.kind)
    if power is not None:
        left = 1 - leverage - u * u / a
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(left > 1e-10, score / left**power, 0.0)
    factor = k / freedom if errors.k_adj else 1.0
    return freedom, factor * float(score @ score) / a**2


def drop_singletons(design: Design, kept: Ints) -> Ints:
    """Without rows that are alone in a fixed effect, until there are none."""
    while True:
        alone = np.zeros(len(kept), dtype=bool)
        for codes in design.absorbed:
            alone |= np.bincount(codes[kept])[codes[kept]] == 1
        if not alone.any():
            return kept
        kept = kept[~alone]


def count_columns(design: Design, kept: Ints, errors: StandardErrors, used: int) -> int:
    """Columns that the factors for small samples count, of those ``used`` to fit some rows."""
    if not design.absorbed or errors.effects == "full":
        return used
    present = [codes[kept] for codes in design.absorbed]
    levels = [len(np.unique(codes)) for codes in present]
    if errors.beside:
        used = errors.beside + sum(levels) - (len(levels) - 1)
    if errors.effects == "none":
        return used - sum(levels) + len(levels) - 1
    clusters = [labels[kept] for labels in errors.clusters]
    within = [any(nested(codes, c) for c in clusters) for codes in present]
    return used - sum(m - errors.nested_each for m, i in zip(levels, within, strict=True) if i)


def nested(codes: Ints, clusters: Ints) -> bool:
    """Whether all rows of a level are in one cluster."""
    pairs = np.unique(codes * (int(clusters.max(initial=0)) + 1) + clusters)
    return len(pairs) == len(np.unique(codes))


def _clustered(score: Floats, errors: StandardErrors, kept: Ints) -> tuple[int, float]:
    """The fewest clusters of a variable, and the sum of squares of the clusters' scores."""
    ways = [np.unique(labels[kept], return_inverse=True)[1] for labels in errors.clusters]
    if len(ways) == 2:
        ways.append(np.unique(ways[0] * (ways[1].max() + 1) + ways[1], return_inverse=True)[1])
    sums = [np.bincount(way, score) for way in ways]
    fewest = min(len(s) for s in sums)
    if fewest < 2:
        return fewest, math.nan
    total = 0.0
    for s, sign in zip(sums, (1, 1, -1), strict=False):
        g = fewest if errors.g_min else len(s)
        total += sign * (g / (g - 1) if errors.g_adj else 1.0) * float(s @ s)
    return fewest, total


def _intercept(design: Design, kept: Ints, slope: float, space: Span) -> float:
    """From the coefficients of columns about their medians."""
    at, z = design.intercept, design.controls
    if at is None or design.classes is not None:
        return math.nan
    x, y, controls = design.scaled
    coefficients = space.coefficients(y[kept] - slope * x[kept])
    root = design.root_weights[0]
    medians = z[0] - controls[0] / root
    level = design.y[0] - y[0] / root - slope * (design.x[0] - x[0] / root)
    return float(coefficients[at] * z[0, at] + level - coefficients @ medians)


def student(z: float, freedom: int) -> float:
    """The t that is as improbable as a z."""
    from scipy.special import ndtr, stdtrit

    return math.copysign(min(-float(stdtrit(freedom, ndtr(-abs(z)))), _HUGE), z)


@dataclass(frozen=True, eq=False)
class RobustProblem(BreakProblem):
    """A test with other standard errors: removals are found as for the classical one, and tested.

    The t statistic stands for the partial r of the same p-value, so that conditions need not know.
    With an instrument, ``moments`` are of the reduced form, which is how removals are found,
    ``regression`` and ``stage`` the regression and the moments of its first stage, and ``signs``
    the ways for its coefficient to have the sign that is asked for.
    """

    first_order = False

    errors: StandardErrors
    regression: Design | None = None
    stage: Moments | None = None
    signs: tuple[BreakProblem, ...] = ()

    def excess(self, removal: Ints) -> float:
        assert isinstance(self.condition, (CorrelationAbove, CorrelationBelow))
        design = self.regression or self.moments.design
        found = fit_term(design, design.kept(removal), self.errors)
        if found.freedom < 1 or math.isnan(found.t):
            return -math.inf
        # Scores that all are zero have no error to divide by; doubles do not tell.
        if found.se <= _ROUNDED * max(self._unit, abs(found.slope)):
            return 0.0
        t = student(found.t, found.freedom) if self.errors.normal else found.t
        r = t / math.sqrt(found.freedom + t**2)
        stand_in = Sums(found.freedom + 1, 0, 1.0, 1.0, r, 1.0)
        return float(self.condition.excess(stand_in, (1.0, 1.0)))

    def influence_on_test(self) -> tuple[Floats, float] | None:
        """To first order, how far each unit's removal moves the end of the confidence interval
        that has to pass 0 towards it and beyond, and where it is; None where that is not known.

        The end is sign b - t* se, se^2 = f Q / (u.x)^2, Q the sum of squares of the clusters'
        scores. What a removal takes of its own cluster's square is exact.
        """
        assert isinstance(self.condition, (CorrelationAbove, CorrelationBelow))
        design, errors = self.regression or self.moments.design, self.errors
        every = np.arange(design.n)
        found = fit_term(design, every, errors)
        several = errors.kind == "cluster" and len(errors.clusters) != 1
        known = errors.kind in ("HC0", "HC1", "HC2", "HC3", "cluster") and not several
        if not known or errors.reduced_form or not found.se > 0:
            return None
        space, (x, y, _) = design.span, design.scaled
        u, right = space.residual(design.scaled_instrument), space.residual(x)
        rest, moved = space.residual(y) - found.slope * right, float(u @ right)
        power = {"HC2": 0.5, "HC3": 1.0}.get(errors.kind, 0.0)
        left = np.maximum(1 - space.leverage - u * u / float(u @ u), 1e-10)
        score, divided = u * rest / left**power, left**-power
        cluster = errors.clusters[0] if errors.kind == "cluster" else every
        total = np.bincount(cluster, score)[cluster]
        if not (square := float(score @ total)) > 0:
            return None

        def spread(v: Floats) -> Floats:
            return np.asarray(v - space.residual(v))

        by_term, by_residual = total * divided * rest, total * divided * u
        turned = spread(by_residual) + u * float(right @ by_residual) / moved
        squares = 2 * design.sums(spread(by_term) * u + turned * rest)
        pairs, at = np.unique(np.column_stack([design.unit, cluster]), axis=0, return_inverse=True)
        own = np.bincount(at.ravel(), score)
        whole = np.bincount(cluster, score)[pairs[:, 1]]
        squares += np.bincount(pairs[:, 0], own * (own - 2 * whole), minlength=design.size)
        slope = -design.sums(u * rest) / moved
        width = found.se * (squares / (2 * square) + design.sums(u * right) / moved)
        critical = float(self.test.critical[found.freedom])
        sign, gained = self.condition.sign, isinstance(self.condition, CorrelationAbove)
        side = 1 if gained else -1
        return (
            side * (sign * slope - critical * width),
            side * (sign * found.slope - critical * found.se),
        )

    def on_rows(self, rows: Ints) -> RobustProblem:
        """The same test on some rows, for its statistic alone."""
        moments, stage = (
            None if m is None else Moments(m.design.on_rows(rows))
            for m in (self.moments, self.stage)
        )
        assert moments is not None
        return RobustProblem(moments, self.condition, self.errors.select_rows(rows), None, stage)

    @property
    def _unit(self) -> float:
        """Of the coefficient: of the outcome by that of the term, given the controls."""
        x, y = self.moments.scale
        return y / (x if self.stage is None else self.stage.scale[1])

    @property
    def necessary(self) -> tuple[BreakProblem, ...]:
        """The threshold is not one of the classical r."""
        if not isinstance(self.condition, CorrelationAbove) or self.regression is not None:
            return self.signs
        return (BreakProblem(self.moments, SlopeBeyond(0.0, 0.0, self.condition.sign)),)

    @cached_property
    def test(self) -> TermTest:
        """The same test for the compiled half, and exactly."""
        assert isinstance(self.condition, (CorrelationAbove, CorrelationBelow))
        return TermTest(self.moments, self.condition, self.errors, self.stage)

    def broken(self, removal: Ints) -> bool:
        past = self.excess(removal)
        if abs(past) > CLEAR or not self.test.plain:
            return past > CLEAR
        return self.test.broken(removal)


class TermTest:
    """One condition on the t statistics of subsets.

    Attributes
    ----------
    critical : the t, or z, that is compared with, by degrees of freedom.
    rows : the rows in the order of their units, and of their clusters within.
    first : where among them each unit begins, and the end of the last.
    """

    def __init__(
        self,
        moments: Moments,
        condition: CorrelationAbove | CorrelationBelow,
        errors: StandardErrors,
        stage: Moments | None = None,
    ) -> None:
        self._moments, self._condition, self.errors = moments, condition, errors
        self._stage = stage  # the moments are then of the reduced form
        self._design = moments.design
        labels = self.errors.clusters[:1]
        self.rows = np.lexsort((*labels, self._design.unit))
        self.first = np.concatenate([[0], np.cumsum(np.bincount(self._design.unit))])

    @property
    def side(self) -> int:
        """0 where |t| must be below, or the sign with which it must be above."""
        return self._condition.sign if isinstance(self._condition, CorrelationAbove) else 0

    @cached_property
    def critical(self) -> Floats:
        from scipy.special import ndtri, stdtr

        freedom = np.arange(1, self._design.n + 1)
        r = np.clip([self._condition.threshold(int(f)) for f in freedom], 0.0, 1.0)
        with np.errstate(divide="ignore"):
            t = r * np.sqrt(freedom) / np.sqrt((1 - r) * (1 + r))
        if self.errors.normal:
            t = -ndtri(stdtr(freedom, -t))
        return np.concatenate([[np.nan], t])

    @property
    def plain(self) -> bool:
        return self.errors.plain(bool(self._design.absorbed))

    @property
    def usable(self) -> bool:
        """Whether floating point tells what the columns are, and the factors are the plain ones."""
        used = [m for m in (self._moments, self._stage) if m is not None]
        return self.plain and all(m.basis.clear and not m.degenerate for m in used)

    @property
    def _q(self) -> Floats:
        """A basis of all controls, those included that the moments fit by means."""
        if self._moments.classes is None:
            return self._moments.q
        return basis(self._design.expanded().scaled[2]).q

    @cached_property
    def core(self) -> _core.LinearTest:
        """The test as the compiled half wants it."""
        m, errors = self._moments, self.errors
        s, y = m.x[self.rows], m.y[self.rows]
        x = s if self._stage is None else self._stage.y[self.rows]
        clusters = [labels[self.rows] for labels in errors.clusters]
        if len(clusters) == 2:
            clusters.append(clusters[0] * (clusters[1].max() + 1) + clusters[1])
        return _core.LinearTest(
            np.ascontiguousarray(self._q[self.rows]), s, x, y, self.first.tolist(),
            kind=errors.kind,
            clusters=[np.unique(c, return_inverse=True)[1].tolist() for c in clusters],
            k_adj=errors.k_adj, g_adj=errors.g_adj, g_min=errors.g_min,
            cluster_freedom=errors.cluster_freedom, critical=self.critical, side=self.side,
            instrument=self._stage is not None, fixed=self._design.fixed, variance=m.scale[1] ** -2,
            error=float(max(m.error, 0.0 if self._stage is None else self._stage.error)),
        )  # fmt: skip

    @cached_property
    def _exact(self) -> ExactTests:
        d = self._design.expanded()
        if self._stage is None:
            return ExactTests(d.controls, d.x, d.y, weights=d.weights, fixed=d.fixed)
        term = self._stage.design.y
        return ExactTests(d.controls, term, d.y, instrument=d.x, weights=d.weights, fixed=d.fixed)

    def broken(self, removal: Ints) -> bool:
        """Whether the claim breaks without these units, in rational arithmetic."""
        found = self._exact.test(self._design.kept(removal), self.errors)
        if found is None or not np.isfinite(limit := float(self.critical[found.freedom])):
            return False
        if self.side == 0:
            return found.square < Fraction(limit) ** 2
        return found.sign == self.side and found.square > Fraction(limit) ** 2
