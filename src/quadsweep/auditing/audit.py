"""The fewest observations whose removal changes a conclusion."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing import claims, instruments, likelihood
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import Claim, Subject, Terms
from quadsweep.auditing.confirm import (
    AGREE,
    FROZEN,
    UNDEFINED,
    Confirmed,
    StatedModel,
    can_lose_figures,
    check_all_rows,
    confirm_by_library,
    confirm_removal,
    rows_of_probe,
)
from quadsweep.auditing.controls.heuristics import RowHeuristic
from quadsweep.auditing.controls.reading import (
    Regression,
    is_regression,
    phrase,
    read,
    two_columns,
    units_limit,
)
from quadsweep.auditing.controls.robust import RobustProblem, TermFit, fit_term
from quadsweep.auditing.controls.stated import (
    StatedLikelihood,
    StatedProblem,
    pose_claim_by_refits,
    stated_term,
)
from quadsweep.auditing.fit import Fit, fit
from quadsweep.auditing.minimal_removal import (
    BreakMode,
    MinimalRemovalSearch,
    Report,
    report_bounds,
)
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles.choice import oracles_for
from quadsweep.auditing.outofcore import audit_out_of_core
from quadsweep.auditing.proving import check_provable, refutation
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.result import Audit, OutOfCoreAudit, RegressionAudit, SearchState, reported
from quadsweep.blas import one_thread
from quadsweep.clock import Stopped
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.inputs.models import is_several
from quadsweep.inputs.standard_errors import OWN, StandardErrors, in_one_word
from quadsweep.messages import argument
from quadsweep.outofcore.search import Query
from quadsweep.outofcore.solve import SourceResources, load_or_stream, refuse
from quadsweep.outofcore.sources import collects_itself, is_source
from quadsweep.progress import SearchProgress
from quadsweep.solving.question import SourceSettings

TESTS = ("significance", "reverse")  # the claims about a t test

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class Settings(SourceSettings, total=False):
        """The keyword arguments of :func:`audit`, for type checkers alone."""

        controls: Any
        groups: Any
        term: str | Sequence[str] | None
        vcov: Any
        cov_type: str | None
        cov_kwds: dict[str, Any] | None
        fit_options: dict[str, Any] | None
        claim: str
        level: float
        threshold: Any
        max_drop: int | float | None
        progress: SearchProgress


# A path may be larger than memory; what else may be is not known by its type.
@overload
def audit(
    points: str | os.PathLike[str], /, y: str, *, x: str, **settings: Unpack[Settings]
) -> Audit | OutOfCoreAudit: ...
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
    term: str | Sequence[str] | None = None,
    vcov: Any = None,
    cov_type: str | None = None,
    cov_kwds: dict[str, Any] | None = None,
    fit_options: dict[str, Any] | None = None,
    claim: str = "sign",
    level: float = 0.05,
    threshold: Any = None,
    max_drop: int | float | None = None,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = None,
    proof: bool = False,
    memory_limit: float | None = None,
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Audit | OutOfCoreAudit:
    """Find the fewest rows whose removal breaks a claim about a regression.

    Parameters
    ----------
    points, x, y : one-dimensional sequences of numbers
        As in :func:`quadsweep.solve`. The first argument may also be a formula followed by its data
        frame, ``"wage ~ educ + exper + C(region)"`` or with fixed effects ``"wage ~ educ | region +
        year"``, or a fitted model of statsmodels, pyfixest or linearmodels; both need ``term``.
    controls : array or data frame, optional
        Further columns of the regression, refitted on the rows kept; an intercept is added unless
        there is one. With a formula or a fitted model, ``"fixed"`` fits them once, on all rows,
        which is an approximation.
    groups : sequence, or name of a column, optional
        Remove whole groups, and count groups instead of rows.
    weights : sequence, or name of a column, optional
        Weights of weighted least squares.
    data : data frame, optional
        The table of the formula or of the columns' names. With a fitted model, the table it was
        fitted to, for the names of the rows (pyfixest does not keep them).
    term : str, optional
        The column of the regression whose coefficient is audited; ``"Intercept"`` is one. The
        mean of ``y ~ 1`` needs no term. With a list of terms of a fitted model, the claim
        ``significance`` is about their joint test, F or Wald, as its library computes it.
    vcov : {"classical", "HC0", "HC1", "HC2", "HC3", "known"}, {"CRV1": clusters}, or clusters
        The standard errors of the test; by default those of the fitted model, with its factors for
        small samples and its distribution, or classical ones. Clusters are a sequence, the name of
        a column, or two names, ``"firm + year"``. ``"known"`` is the z test of a fixed-effect
        meta-analysis: the variance of each row is one over its weight. The guide's page "What is
        supported and proved" says which are exact.
    cov_type, cov_kwds : str, dict, optional
        The standard errors as in statsmodels, ``cov_type="cluster", cov_kwds={"groups": "firm"}``,
        with normal p-values unless ``cov_kwds`` has ``use_t``.
    fit_options : dict, optional
        Options for refits that the fitted model does not keep, such as ``{"small_sample": True}``
        of linearmodels' ``RandomEffects``.
    claim : str
        The claim that the removal breaks:

        - ``sign``: broken if the slope has the opposite sign.
        - ``significance``: broken if a significant coefficient is not significant at ``level``
          (two-sided t test on the rows kept), or one that was not significant is, in either
          direction.
        - ``reverse``: broken if the coefficient is significant with the opposite sign.
        - ``r2``: broken if R2 reaches ``threshold`` from below or from above.
        - ``slope``: broken if the slope leaves the interval ``threshold=(low, high)``; either end
          may be infinite.
    level : float
        Level of the significance test.
    threshold : float, or pair of floats
        Threshold of ``r2``, interval of ``slope``.
    max_drop : int or float, optional
        The most rows that may be removed, a number or a share of n; by default n - 3.
    tol : float
        A statistic within ``tol`` of a threshold counts as equal to it (in units of a correlation,
        or of R2 for ``r2``). Equality breaks ``r2`` and no other claim.
    time_limit, n_jobs, seed, nan_policy, progress
        As in :func:`quadsweep.solve`; a callable receives (upper, lower, nodes, seconds).
    proof : bool
        Also write a proof, ``Audit.proof``, that no fewer rows than ``lower`` break the claim, for
        :func:`quadsweep.check`; None if none was found. With controls: ``sign`` and ``slope``, up
        to five controls, no groups or weights.
    memory_limit : float, optional
        As in :func:`quadsweep.solve`.
    client, out, resume : optional
        For data out of core, as in :func:`quadsweep.solve`.

    Returns
    -------
    Audit
        A :class:`quadsweep.RegressionAudit` with controls, groups, weights, a formula or a fitted
        model. For data out of core an :class:`quadsweep.OutOfCoreAudit`; for several fits of
        pyfixest at once, the :class:`quadsweep.AuditTable` of them.

    Notes
    -----
    At least three rows are kept, and one degree of freedom. A subset on which x or y is constant,
    or on which the controls explain x, breaks no claim. A control that is collinear on the rows
    kept, such as the dummy of a removed group, is dropped.

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
    if is_several(points):
        several: Audit = _audit_several(
            points, terms=term, claims=claim, controls=controls, groups=groups, weights=weights,
            data=data, vcov=vcov, cov_type=cov_type, cov_kwds=cov_kwds, fit_options=fit_options,
            level=level, threshold=threshold, max_drop=max_drop, tol=tol, time_limit=time_limit,
            n_jobs=n_jobs, seed=seed, progress=progress, memory_limit=memory_limit,
        )  # fmt: skip
        return several
    memory = validation.memory(memory_limit)
    resources = Resources.given(time_limit, n_jobs, seed, memory_limit=memory)
    terms = claims.terms(claim, level, threshold, validation.tolerance(tol), max_drop)
    x, y, data = normalize_arguments("audit", points, x, y, data, models=True)
    regression = {
        "controls": controls, "groups": groups, "weights": weights, "term": term,
        "vcov": in_one_word(vcov, cov_type, cov_kwds),
    }  # fmt: skip
    is_plain = not is_regression(x, **regression)
    in_parts = is_source(data) and not collects_itself(data)
    if in_parts and (proof or not is_plain):
        raise ValueError(
            "an audit out of core is about two columns: no controls, groups, "
            "weights, term, vcov or proof"
        )
    for_sources = {"client": client, "out": out, "resume": resume}
    if not is_plain:
        refuse(**for_sources)
        given = read(x, y, data=data, **regression, nan_policy=nan_policy, fit_options=fit_options)
    else:
        source, x, y, data = load_or_stream(x, y, data, memory_limit, **for_sources)
        if source is not None:
            query = Query.checked("r", None, None, tol, seed, nan_policy)
            given_to = SourceResources(
                resources.memory_limit, time_limit, n_jobs, progress, client, out, resume
            )
            return audit_out_of_core(source, terms, query, given_to)
        given = two_columns(x, y, data, nan_policy=nan_policy)
    if proof and not is_plain:
        check_provable(given, claim)
    return audit_given(given, terms, resources, progress, proof)


def _audit_several(models: Any, **asked: Any) -> Any:
    """The table of several fits of pyfixest."""
    from quadsweep.auditing.tables import audit_table

    return audit_table(models, **asked)


@one_thread()
def audit_given(
    given: Regression, terms: Terms, resources: Resources, progress: Any = False,
    proof: bool = False,
) -> Audit:  # fmt: skip
    """Audit a regression that was read: fit it, search, and fit again what is left."""
    design, most = given.design, units_limit(terms.max_drop, given.design)
    before = fitted(given, np.arange(design.n))
    given = _with_own_errors(given, terms, before)
    if (independent := _independent(given)) is not None:
        before = check_all_rows(independent, before)
    _check_test(given, terms, before)
    claimed, problems = _pose_claim(given, terms, before, resources)
    with report_bounds(progress, resources) as note:
        known = _search(problems, most, resources, note)
    known, confirmed = _confirm(given, claimed, known)
    found = _result(given, claimed, terms, problems, known, most, before, confirmed, resources)
    if not proof:
        return found
    proved = refutation(design, claimed.conditions, known.lower - 1, resources.time_left())
    return replace(found, proof=proved)


def _pose_claim(
    given: Regression, terms: Terms, before: Fit, resources: Resources
) -> tuple[Claim, tuple[BreakProblem, ...]]:
    """The claim, and one problem for each way in which it breaks."""
    design, errors = given.design, given.errors
    if given.by_refits:
        return pose_claim_by_refits(given, terms, before)
    if design.link:
        claimed, problems = likelihood.pose_claim(given, terms, before)
        if claimed.is_test and errors.kind == OWN and (stated := stated_term(given)) is not None:
            problems = tuple(StatedLikelihood(p.moments, p.condition, stated) for p in problems)
        return claimed, problems
    if design.instrument is not None:
        return instruments.pose_claim(given, terms, before, resources)
    if errors.reduced_form:
        raise ValueError(f"{argument('vcov', 'anderson-rubin')} is a test of an instrumented "
                         "term: y ~ w + [x ~ z]")  # fmt: skip
    moments = Moments(design, resources.check)
    claimed = _claim(given, terms, moments, before)
    if errors.classical or not claimed.is_test:
        return claimed, tuple(BreakProblem(moments, how) for how in claimed.conditions)
    if errors.kind != OWN:
        return claimed, tuple(RobustProblem(moments, how, errors) for how in claimed.conditions)
    stated = stated_term(given)
    assert stated is not None
    return claimed, tuple(StatedProblem(moments, how, stated) for how in claimed.conditions)


def _confirm(
    given: Regression, claimed: Claim, known: SearchState
) -> tuple[SearchState, Confirmed]:
    """Fit the model again without what was found; what it contradicts is not stated."""
    design, independent = given.design, _independent(given)
    if known.removal is None:
        return known, Confirmed(None, FROZEN if _has_moving_transforms(given, known) else "")
    if given.by_refits:
        return known, Confirmed(fitted(given, design.kept(known.removal)))
    kept = design.kept(known.removal)
    after = fitted(given, kept)
    confirmed = Confirmed(after)
    own_test = claimed.is_test and given.errors.kind == OWN
    if given.model is not None and not own_test and len(kept) < design.n:
        assert isinstance(after, TermFit)
        undefined = why_undefined(given, kept) if math.isnan(after.slope) else ""
        searched = _fit_columns(given, kept)
        conditions = claimed.conditions
        confirmed = confirm_by_library(given.model, undefined, searched, after, conditions)
    elif independent is not None:
        confirmed = confirm_removal(independent, kept, after)
    if confirmed.after is not None:
        return known, confirmed
    lower = known.lower if confirmed.is_undefined else min(known.lower, 1)
    return SearchState(lower, None, None, "undecided"), confirmed


def _has_moving_transforms(given: Regression, known: SearchState) -> bool:
    """Whether a proof about columns as computed from all rows is not one about the model's own."""
    independent, kept = _independent(given), rows_of_probe(given.design.n)
    if known.lower < 2 or given.by_refits or given.fixed:
        return False
    if given.model is None:
        return independent is not None and independent.has_moving_transforms(kept)
    here, anew = _fit_columns(given, kept), fitted(given, kept)
    return bool(abs(here.slope - anew.slope) > AGREE * max(abs(anew.slope), anew.se))


def why_undefined(given: Regression, kept: Ints) -> str:
    """Why the library has no figures for the term on these rows."""
    assert given.model is not None
    assert given.model_rows is not None
    term = given.design.term
    return given.model.refit(given.model_rows[kept], [term]).undefined.get(term, "")


def _independent(given: Regression) -> StatedModel | None:
    """What confirms the audit; a fitted model does so itself."""
    if given.model is not None:
        return None
    stated = given.stated or StatedModel(given.design, given.errors)
    return stated.hold_controls() if given.fixed else stated


def fitted(given: Regression, kept: Ints) -> Any:
    """What the regression says about the term on some rows; a fitted model says it itself."""
    if given.is_plain:
        return fit(given.design.x[kept], given.design.y[kept])
    found, stated = _fit_columns(given, kept), stated_term(given)
    return found if stated is None else stated.state(found, kept)


def _fit_columns(given: Regression, kept: Ints) -> TermFit:
    if given.design.link:
        return likelihood.fit_likelihood(given.design, kept)
    return fit_term(given.design, kept, given.errors)


def _with_own_errors(given: Regression, terms: Terms, before: Fit) -> Regression:
    """The regression with errors that only its library knows where the search has others."""
    design, errors = given.design, given.errors
    if given.model is None or given.by_refits or terms.name not in TESTS:
        return given
    assert isinstance(before, TermFit)
    searched = _fit_columns(given, np.arange(design.n))
    if errors.kind != OWN and math.isclose(before.se, searched.se, rel_tol=1e-5):
        return given
    if design.instrument is not None:
        raise ValueError(
            f"{given.model.name} with this {errors.test} have no search for "
            f"{argument('claim', terms.name)}; {argument('claim', 'sign')} works, and so does "
            f"{argument('vcov', 'HC1')}"
        )
    own = StandardErrors(OWN, by=errors.label, normal=errors.normal or bool(design.link))
    return given if errors.kind == OWN else replace(given, errors=own)


def _check_test(given: Regression, terms: Terms, before: Fit) -> None:
    """That there is a test on all rows."""
    design, errors = given.design, given.errors
    if terms.name not in TESTS:
        return
    if errors.classical or errors.reduced_form or not math.isnan(before.p_value):
        return
    if any(len(np.unique(labels)) < 2 for labels in errors.clusters):
        raise ValueError(f"standard errors clustered by {errors.by} need two clusters; got 1")
    raise ValueError(f"the {errors.test} has no p-value on all {design.n} rows")


def _claim(given: Regression, terms: Terms, moments: Moments, before: Fit) -> Claim:
    design, errors, claim = given.design, given.errors, terms.name
    full = moments.all_rows()
    for name, left in ((design.term, full.a), (design.outcome, full.b)):
        if left == 0:
            raise ValueError(f"the controls explain {name} on all rows, so there is no coefficient")
    if claim == "r2" and design.is_centred and design.intercept is None:
        raise ValueError(f"{design.term} and the controls span a constant; write an intercept in "
                         f"the place of a control for {argument('claim')} 'r2'")  # fmt: skip
    if given.fixed and claim == "r2":
        raise ValueError(
            f"{argument('claim')} 'r2' needs controls that are refitted; got "
            f"{argument('controls', 'fixed')}"
        )
    if given.is_plain:
        return claims.build(terms, full)
    subject = Subject.coefficient(
        phrase(given), errors.test, design.q > 1 or design.intercept is None
    )
    significant = None if errors.classical else before.p_value <= terms.level
    return claims.build(terms, full, subject, significant)


def _search(
    problems: tuple[BreakProblem, ...],
    most: int,
    resources: Resources,
    note: Report,
) -> SearchState:
    nothing = np.zeros(0, dtype=np.int64)
    try:
        if any(problem.broken(nothing) for problem in problems):
            return SearchState(0, 0, nothing, "optimal")
    except Stopped as stop:  # not even that is known
        return SearchState(0, None, None, stop.status, followed=((0, 0),) * len(problems))
    heuristics = [
        RowHeuristic(problem, most, resources.check, resources.seed) for problem in problems
    ]
    modes = [
        BreakMode(heuristic, oracles_for(problem, resources))
        for problem, heuristic in zip(problems, heuristics, strict=True)
    ]
    found = MinimalRemovalSearch(modes, most, resources, note).run()
    refitted = resources.refitted.get(found.lower - 1, 0)
    proved = found.lower == found.upper or found.status == "optimal"
    followed = tuple((math.inf, math.inf) if proved else p.followed for p in heuristics)
    return SearchState(found.lower, found.upper, found.removal, found.status, refitted, followed)


def _result(
    given: Regression, claimed: Claim, terms: Terms, problems: tuple[BreakProblem, ...],
    known: SearchState, most: int, before: Fit, confirmed: Confirmed, resources: Resources,
) -> Audit:  # fmt: skip
    design, units = given.design, given.design.units
    removal = np.zeros(0, dtype=np.int64) if known.removal is None else known.removal
    gone = design.rows(removal)
    kept = np.delete(np.arange(design.n), gone)
    mask = np.zeros(given.given, dtype=bool)
    mask[given.rows[kept]] = True
    full = np.full((2, given.given), np.nan)
    full[:, given.rows] = design.x, design.y if given.response is None else given.response
    groups: dict[str, Any] = {}
    if units is not None:
        groups = {"groups": len(units), "by": given.by, "rows": len(gone)}
    fields = reported(claimed, known, most, design.n, **groups)
    if confirmed.remark:
        fields["message"] = confirmed.amend(fields["message"])
    uncounted = given.by_refits or can_lose_figures(design, known.lower - 1)
    if given.model is not None and known.lower > 1 and uncounted:
        fields["message"] += UNDEFINED
    if given.fixed:
        fields["message"] += " The controls were held fixed, not refitted: an approximation."
    stages: dict[str, Any] = {}
    if design.instrument is not None:
        forms = {"first_stage": instruments.first_stage, "reduced_form": instruments.reduced_form}
        everything = np.arange(design.n)
        stages = {
            name: fit_term(of(design), everything, given.errors) for name, of in forms.items()
        }
    kind = Audit if given.is_plain else RegressionAudit
    return kind(
        **fields,
        outliers=given.rows[gone],
        before=before,
        after=confirmed.after,
        level=terms.level,
        threshold=terms.threshold,
        tol=terms.tol,
        nodes=resources.nodes,
        seconds=resources.gone(),
        mask=mask,
        x=full[0],
        y=full[1],
        names=(design.term, design.outcome),
        labels=given.labels,
        frame=given.table,
        term=design.term,
        controls=design.listed or design.names,
        groups=None if units is None else [units[i] for i in removal],
        n_groups=None if units is None else len(units),
        test=likelihood.name_test(given) if design.link else given.errors.test,
        refitted=not given.fixed,
        **stages,
        design=design,
        regression=given,
        problems=problems,
        followed=known.followed,
        time_limit=resources.limit,
        seed=resources.seed,
    )
