"""The fewest points whose removal changes a conclusion."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, overload

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing import claims
from quadsweep.auditing.baselines import Approximation, approximations, kept_by_influence
from quadsweep.auditing.claims import Claim, Terms
from quadsweep.auditing.controls.reading import is_regression
from quadsweep.auditing.decisions import Asker
from quadsweep.auditing.exact import ExactPoints
from quadsweep.auditing.fit import fit
from quadsweep.auditing.in_passes import StreamedAudit, audit_in_passes
from quadsweep.auditing.least import Least
from quadsweep.auditing.proving import refutation
from quadsweep.auditing.rows import drop_limit, pose_audit
from quadsweep.auditing.verdict import Known, Verdict, message
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import arranged
from quadsweep.inputs.standard_errors import in_one_word
from quadsweep.outofcore.search import Asked
from quadsweep.outofcore.solve import Means, taken
from quadsweep.outofcore.sources import collects_itself, is_source
from quadsweep.progress import Removals, SearchProgress, watching
from quadsweep.results.formatting import named_rows
from quadsweep.solving.methods import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

    from quadsweep.proofs.proof import Proof

    class Settings(TypedDict, total=False):
        """The keyword arguments of :func:`audit`, for type checkers alone."""

        controls: Any
        groups: Any
        weights: Any
        data: Any
        term: str | None
        vcov: Any
        cov_type: str | None
        cov_kwds: dict[str, Any] | None
        claim: str
        level: float
        threshold: Any
        max_drop: int | float | None
        tol: float
        time_limit: float | None
        n_jobs: int | None
        seed: int
        nan_policy: str
        progress: SearchProgress
        proof: bool
        memory_limit: float | None
        client: Any
        out: str | os.PathLike[str] | None
        resume: bool


@dataclass(frozen=True, eq=False)
class Audit(Verdict):
    """How few rows carry a conclusion.

    Attributes
    ----------
    claim : str
    drop : int or None
        The fewest rows whose removal breaks the claim; None if that is not known, or if no removal
        of up to ``max_drop`` rows does.
    lower : int
        No fewer rows than this can break it: proved.
    upper : int or None
        This many can, see ``outliers``; None if no such rows were found.
    outliers : sorted positions, in the data as given, of rows that break it.
    before, after : Fit
        Slope, intercept, r, R2 and p-value of all rows, and without the outliers (or None).
    status : str
        ``optimal`` (``lower`` equals ``upper``), ``robust`` (no removal of up to ``max_drop`` rows
        breaks the claim), ``undecided``, ``time_limit`` or ``interrupted``.
    message : str
        The answer in a sentence or two.
    n, max_drop : int
        Rows considered, and the most that may be removed.
    level, threshold, tol : the claim's parameters.
    nodes : int
        Boxes of the search.
    seconds : float
    x, y : arrays
        The data as given.
    names, labels, frame : as in :class:`quadsweep.Result`.
    proof : Proof, optional
        With ``proof=True``, why no fewer rows than ``lower`` break the claim.
    """

    outliers: Ints
    mask: Mask = field(repr=False)
    x: Floats = field(repr=False)
    y: Floats = field(repr=False)
    names: tuple[str, ...] = ("x", "y")
    labels: Sequence[Any] | None = field(default=None, repr=False)
    frame: Any = field(default=None, repr=False)
    proof: Proof | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.upper is None or self.upper == len(self.outliers)

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        lines = [("all rows", str(self.before))]
        if self.after is not None:
            lines += [
                ("without them", str(self.after)),
                ("removed", named_rows(self.outliers, self.labels)),
            ]
        lines += self._left_out()
        lines.append(("certificate", self.certificate))
        if self.upper != 0:
            lines += [(a.method, a.verdict(self.lower, self.upper)) for a in self.approximations]
        lines.append(("search", f"{self.nodes:,} nodes, {self.seconds:.3g} s"))
        return lines

    @property
    def omitted(self) -> Ints:
        """Positions left out because of a missing value."""
        return np.flatnonzero(np.isnan(self.x))

    def _left_out(self) -> list[tuple[str, str]]:
        if not len(self.omitted):
            return []
        return [("left out", named_rows(self.omitted, self.labels, "missing values"))]

    @cached_property
    def approximations(self) -> tuple[Approximation, ...]:
        """What the usual approximations make of it; computed when first looked at."""
        used = np.isfinite(self.x)
        terms = Terms(self.level, self.threshold, self.tol)
        points = ExactPoints(self.x[used], self.y[used])
        claim = claims.CLAIMS[self.claim](points, self.before, terms)
        return approximations(claim.sides, self.max_drop)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rows removed, and the line with and without them."""
        from quadsweep.plotting.audit import plot_audit

        return plot_audit(self, ax=ax)

    def to_frame(self) -> Any:
        """The data with a column ``inlier``, in the library it came from (pandas for arrays)."""
        from quadsweep.inputs.frames import marked

        return marked(self.frame, self.x, self.y, self.names, self.mask)

    def _more(self) -> dict[str, Any]:
        every = [asdict(a) for a in self.approximations] if self.upper != 0 else []
        return {"approximations": every}


# A path may be larger than memory; what else may be is not known by its type.
@overload
def audit(
    points: str | os.PathLike[str], /, y: str, *, x: str, **settings: Unpack[Settings]
) -> Audit | StreamedAudit: ...
@overload
def audit(
    points: Any = None, /, y: Any = None, *, x: Any = None, **settings: Unpack[Settings]
) -> Audit: ...
def audit(
    points: Any = None,
    /,
    y: Any = None,
    *,
    x: Any = None,
    controls: Any = None,
    groups: Any = None,
    weights: Any = None,
    data: Any = None,
    term: str | None = None,
    vcov: Any = None,
    cov_type: str | None = None,
    cov_kwds: dict[str, Any] | None = None,
    claim: str = "sign",
    level: float = 0.05,
    threshold: Any = None,
    max_drop: int | float | None = None,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = False,
    proof: bool = False,
    memory_limit: float | None = None,
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Audit | StreamedAudit:
    """The fewest rows whose removal breaks a claim about a regression.

    Parameters
    ----------
    points, x, y : one-dimensional sequences of numbers
        As in :func:`quadsweep.solve`: the first argument is x, or a data frame or source whose
        columns ``x`` and ``y`` name. Or it is a formula, followed by its data frame: "wage ~ educ +
        exper + C(region)", with fixed effects "wage ~ educ | region + year"; or a fitted OLS or WLS
        of statsmodels, ``feols`` of pyfixest or ``PanelOLS`` of linearmodels; both with ``term``.
    controls : array or data frame, optional
        Further columns of the regression, refitted on the rows kept; an intercept is added unless
        there is one. With a formula or a fitted model, ``"fixed"`` does not refit them: an
        approximation, and the answer says so.
    groups : sequence, or name of a column, optional
        Remove whole groups, and count those.
    weights : sequence, or name of a column, optional
        Of weighted least squares.
    data : data frame, optional
        What the formula is about, or the table whose columns x, y and the others name.
    term : str, optional
        The column of the regression whose coefficient is audited.
    vcov : {"classical", "HC0", "HC1", "HC2", "HC3"}, {"CRV1": clusters}, or clusters
        The standard errors of the test; clusters are a sequence or the name of a column, or two
        names, ``{"CRV1": "firm + year"}``. Left out, those of the fitted model, with its factors
        for small samples and its distribution; classical ones otherwise. Only the classical ones
        are covered by proofs: with others ``upper`` is found by search, and ``lower`` is what can
        still be proved.
    cov_type, cov_kwds : str, dict, optional
        The same in statsmodels' words, ``cov_type="cluster", cov_kwds={"groups": "firm"}``, with
        its normal p-values unless ``cov_kwds`` has ``use_t``.
    claim : str
        What must not survive the removal:

        - ``sign``: the sign of the slope, which is that of the correlation.
        - ``significance``: the correlation is significant (two-sided t test, k - 2 degrees of
          freedom for k rows kept) at ``level``; if it is not, that it is not, in either direction.
        - ``reverse``: broken when the correlation is significant with the opposite sign.
        - ``r2``: that R2 is on its side of ``threshold``; broken when it reaches at least, or
          falls to at most, the threshold.
        - ``slope``: the slope lies in the interval ``threshold=(low, high)``; either end may be
          infinite.
    level : float
        Of the significance test.
    threshold : float, or pair of floats
        For ``r2`` and ``slope``.
    max_drop : int or float, optional
        The most rows that may be removed, a number or a share of n; n - 3 if left out.
    tol : float
        Statistics this close to a threshold, in units of a correlation (of R2 for ``r2``), count
        as equal to it. A sign has not changed, significance has not changed and an interval has
        not been left where they are equal; R2 has been reached.
    time_limit, n_jobs, seed, nan_policy, progress
        As in :func:`quadsweep.solve`; a callable is given (upper, lower, nodes, seconds).
    proof : bool
        Also write down why no fewer rows than ``lower`` break the claim: ``Audit.proof``, for
        :func:`quadsweep.check`; None where such a proof was not found. With controls or a formula
        for the claims ``sign`` and ``slope`` and up to three controls; not with groups or weights.
    memory_limit, client, out, resume : optional
        For data in passes, as in :func:`quadsweep.solve`.

    Returns
    -------
    Audit
        A :class:`quadsweep.RegressionAudit` where there are controls, groups, weights, a formula
        or a fitted model; it adds the term, the controls and the groups. For data in passes a
        :class:`quadsweep.auditing.in_passes.StreamedAudit`.

    Notes
    -----
    At least three rows are kept, and one degree of freedom. Subsets on which x or y is constant
    have no correlation and break no claim; nor do those on which the controls explain x. A control
    that the rows kept do not tell from the others drops out, as a dummy does whose rows are gone.

    Examples
    --------
    >>> import quadsweep as qs
    >>> x = [1, 2, 3, 4, 5, 6, 20]
    >>> y = [6, 5, 4, 3, 2, 1, 20]
    >>> qs.audit(x, y).message
    'Removing 1 of 7 rows (14%) reverses the sign.'

    With a control:

    >>> z = [0, 1, 0, 1, 0, 1, 0]
    >>> qs.audit(x, y, controls=z).message
    'Removing 1 of 7 rows (14%) reverses the sign of the coefficient of x (given z1).'
    """
    x, y, data = arranged("audit", points, x, y, data, models=True)
    vcov = in_one_word(vcov, cov_type, cov_kwds)
    regression = {
        "controls": controls, "groups": groups, "weights": weights, "term": term, "vcov": vcov,
    }  # fmt: skip
    plain = not is_regression(x, **regression)
    if is_source(data) and not collects_itself(data) and (proof or not plain):
        raise ValueError(
            "an audit of data in parts is about two of their columns: no controls, groups, "
            "weights, term, vcov or proof"
        )
    if plain:
        source, x, y, data = taken(x, y, data, memory_limit)
        if source is not None:
            asked = Asked.checked("r", None, None, tol, seed, nan_policy)
            limit = validation.memory(memory_limit)
            means = Means(limit, time_limit, n_jobs, progress, client, out, resume)
            return audit_in_passes(source, claim, level, threshold, max_drop, asked, means)
    if not plain:
        from quadsweep.auditing.controls.report import audit_regression

        return audit_regression(
            x, y, data=data, **regression, claim=claim, level=level, threshold=threshold,
            max_drop=max_drop, tol=tol, time_limit=time_limit, n_jobs=n_jobs, seed=seed,
            nan_policy=nan_policy, progress=progress, proof=proof,
        )  # fmt: skip
    build = claims.get(claim)
    question = pose_audit(x, y, data=data, tol=tol, n_jobs=n_jobs, seed=seed, nan_policy=nan_policy)
    given, points, problem = question.given, question.points, question.problem
    terms = claims.terms(claim, level, threshold, problem.tol)
    most = drop_limit(max_drop, points.n)
    before = fit(points.x, points.y)
    claimed = build(ExactPoints(points.x, points.y), before, terms)
    limits = replace(problem, time_limit=validation.seconds(time_limit))
    known = _answer(claimed, most, limits, progress)
    gone = np.ones(points.n, dtype=bool)
    gone[known.kept if known.kept is not None else slice(None)] = False
    mask = np.zeros(points.given, dtype=bool)
    mask[points.rows] = ~gone
    full = np.full((2, points.given), np.nan)
    full[:, points.rows] = points.x, points.y
    status = "robust" if known.upper is None and known.status == "optimal" else known.status
    left = max(limits.time_limit - known.seconds, 0.0)
    return Audit(
        claim=claim,
        drop=known.upper if known.lower == known.upper else None,
        lower=known.lower,
        upper=known.upper,
        outliers=points.rows[gone],
        before=before,
        after=None if known.kept is None else fit(points.x[~gone], points.y[~gone]),
        status=status,
        message=message(claimed, known, points.n, most),
        n=points.n,
        max_drop=most,
        level=terms.level,
        threshold=terms.threshold,
        tol=terms.tol,
        nodes=known.nodes,
        seconds=known.seconds,
        mask=mask,
        x=full[0],
        y=full[1],
        names=given.names,
        labels=given.labels,
        frame=given.frame,
        proof=refutation(claimed, points.x, points.y, known.lower - 1, left) if proof else None,
    )


def _answer(claim: Claim, most: int, limits: Problem, progress: Any) -> Known:
    everyone = np.arange(claim.points.n)
    if any(side.broken(everyone) for side in claim.sides):
        return Known(0, 0, everyone, "optimal", 0, 0.0)
    upper, lower = math.nan, 1

    def note(least: Least) -> None:
        nonlocal upper, lower
        upper, lower = math.nan if least.upper is None else least.upper, least.lower

    with watching(progress, Removals()) as callback:

        def report(nodes: int, seconds: float) -> object:
            return callback(upper, lower, nodes, seconds) if callback else None

        asker = Asker(
            claim.points,
            time_limit=limits.time_limit,
            n_jobs=limits.n_jobs,
            seed=limits.seed,
            callback=report,
        )
        least = Least(claim.sides, asker, most, note)
    if least.status != "optimal":  # what costs a pass is known however short the time was
        for side in claim.sides:
            kept = kept_by_influence(side, most)
            if kept is not None:
                least.improve(kept)
    return Known(least.lower, least.upper, least.kept, least.status, asker.nodes, asker.seconds)
