"""From an optimal Result to one with its proof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quadsweep.messages import argument
from quadsweep.progress import SearchProgress, watching
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.several import MOST
from quadsweep.proofs.writer import Statement, Unproved, prove
from quadsweep.results.result import Result
from quadsweep.solving.methods.problem import PROVING, Callback, Problem
from quadsweep.solving.question import Question


def check_provable(method: str, objective: str, problem: Problem) -> None:
    """Before any work: is there a kind of proof for this?"""
    if objective == "var":
        raise ValueError(
            f"{argument('objective')} 'var' needs no proof: its best points are neighbours"
        )
    if objective == "mcd":
        raise ValueError(
            f"{argument('objective')} 'mcd' has no proofs yet: its answers are certified "
            "by the search alone"
        )
    if method not in PROVING:
        raise ValueError(f"proof=True needs method {' or '.join(PROVING)}; got {method!r}")
    if problem.p > MOST:
        raise ValueError(f"proof=True is for up to {MOST} predictors; got {problem.p}")
    if problem.weights is not None or not problem.intercept:
        raise ValueError("proof=True is for fits with an intercept and without weights")


def with_proof(
    question: Question, result: Result, time_limit: float, progress: SearchProgress
) -> Result:
    """The result with its proof; without one where it is not optimal, where predictors depend on
    each other, or time is over."""
    with watching(progress, question.problem.objective) as callback:
        return replace(result, proof=proof_of(question, result, time_limit, callback))


def proof_of(
    question: Question, result: Result, time_limit: float, callback: Callback | None = None
) -> Proof | None:
    points, problem = question.points, question.problem
    if result.status != "optimal" or problem.p < points.p:
        return None
    good = np.searchsorted(points.rows, result.inliers).tolist()
    name = problem.objective.name
    statement = Statement(points.x, points.y, result.k, name, result.bound, good, result.value)
    try:
        return prove(statement, time_limit=time_limit, callback=callback)
    except Unproved as wrong:
        if wrong.better is not None:
            rows = points.rows[wrong.better].tolist() or "listed"
            raise RuntimeError(
                f"the proof found rows {rows} better than the answer: please report this"
            ) from None
        return None
