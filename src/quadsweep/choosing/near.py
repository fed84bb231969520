"""All subsets whose value is within a margin of a given subset's, ties included.

Found by excluding points. If S is any near-optimal subset that avoids a set E, every other one
that avoids E lacks some j of S, so it avoids E + {j}: branch on the j. The engine's decision form
finds one that avoids E or proves that there is none, so when all branches are closed the list is
complete.

The engine is asked for a little more than is wanted, its threshold being lowered by more than it
may round, and what it finds is then judged in rational arithmetic: with M = margin |value of S|,

    S' is near-optimal   <=>   score(S') >= score(S) - M,

for r by way of r |r|, which has the same order and no root. (The scores are sums of whole numbers
then, so powers of two and of k that all subsets share are left out.)
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from operator import mul

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.clock import Clock, Stopped
from quadsweep.rational import ExactFit, of_sums, whole_numbers
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, lowered, varied
from quadsweep.solving.methods.certified import search

Subset = frozenset[int]

_RELATIVE = 1e-8  # of the threshold: lowered by this at least before the engine is asked


class NearOptimal:
    """Near-optimal subsets.

    Attributes
    ----------
    subsets : list of those found, the given one first.
    lacking : points of the given one that some near-optimal subset lacks.
    complete : whether ``subsets`` holds all there are.
    """

    def __init__(
        self, problem: Problem, best: Subset, value: float, margin: float, most: int, clock: Clock
    ) -> None:
        # The threshold is lowered instead of the engine being lenient.
        self._problem, self._most, self._clock = replace(problem, tol=0.0), most, clock
        self._tol, self._best = problem.tol, best
        self._worst = value - problem.objective.sense * margin * abs(value)
        self._judge = Judge(problem, best, margin)
        self._found: dict[Subset, None] = {best: None}
        self.subsets = [best]
        self.lacking: frozenset[int] = frozenset()
        self.complete = self.looked = False

    def go(self) -> str:
        """Look for them; ``finished`` or what came first."""
        self.looked = True
        try:
            self.lacking = self._lacking()
            self._list()
        except Stopped as stop:
            return stop.status
        except KeyboardInterrupt:
            return "interrupted"
        return "finished"

    def _least(self, x: Floats, y: Floats) -> float:
        """A threshold that every near-optimal subset of these points surely passes."""
        p = replace(self._problem, x=x, y=y, tol=max(self._tol, 1e-9))
        sense = p.objective.sense
        below = self._worst - sense * _RELATIVE * abs(self._worst)
        return sense * min(sense * below, sense * lowered(p, self._worst))

    def _lacking(self) -> frozenset[int]:
        """Which inliers can be done without, all at once: n - 1 points each."""
        p, inliers = self._problem, sorted(self._best)
        if p.n - 1 < p.k:
            return frozenset()
        others = np.array([np.delete(np.arange(p.n), j) for j in inliers])
        xs, ys = p.x[others], p.y[others]
        good = varied(xs, ys, p.objective)
        answers = np.zeros(len(inliers), dtype=np.int8)
        if good.any():
            least = np.array([self._least(x, y) for x, y in zip(xs[good], ys[good], strict=True)])
            w = None if p.weights is None else p.weights[others][good]
            batch = Batch.like(p, xs[good], ys[good], self._clock.left(), weights=w)
            answers[good] = batch.reach(least)
        if (answers < 0).any():
            raise Stopped(self._clock.ended())
        return frozenset(j for j, yes in zip(inliers, answers, strict=True) if yes == 1)

    def _list(self) -> None:
        fixed = self._best - self.lacking
        none = frozenset[int]()
        seen, queue = {none}, deque([none])
        while queue and len(self.subsets) < self._most:
            excluded = queue.popleft()
            subset = self._avoiding(excluded)
            if subset is None:
                continue
            if subset not in self._found:
                self._found[subset] = None
                if self._judge.is_near(subset):
                    self.subsets.append(subset)
            for j in sorted(subset - fixed):
                more = excluded | {j}
                if more not in seen:
                    seen.add(more)
                    queue.append(more)
        self.complete = not queue
        if self.complete:
            self.lacking = self._best - self._best.intersection(*self.subsets)

    def _avoiding(self, excluded: Subset) -> Subset | None:
        for known in self._found:
            if not known & excluded:
                return known
        p = self._problem
        left = np.array([i for i in range(p.n) if i not in excluded])
        if len(left) < p.k:
            return None
        x, y = p.x[left], p.y[left]
        if not varied(x[None], y[None], p.objective)[0]:
            return None
        part = replace(p.of_rows(left), n_jobs=1, time_limit=self._clock.left())
        answer = search(part, above=self._least(x, y), starting_lines=2)
        if not answer.decided:
            raise Stopped(self._clock.ended())
        return frozenset(left[answer.inliers].tolist()) if len(answer.inliers) else None


class Judge:
    """Compares subsets with a given one, exactly: coordinates are whole numbers times one power of
    two a column.

    Examples
    --------
    >>> from quadsweep.objectives import get
    >>> x, y = np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 2, 5])
    >>> judge = Judge(Problem(x, y, 3, get("cov")), frozenset({0, 1, 3}), 0.5)
    >>> judge.is_near(frozenset({1, 2, 3})), judge.is_near(frozenset({0, 1, 2}))
    (True, False)
    """

    def __init__(self, problem: Problem, best: Subset, margin: float) -> None:
        self._problem = problem
        score = self._score(best)
        self._least = None if score is None else self._threshold(score, Fraction(margin))

    def is_near(self, subset: Subset) -> bool:
        """Whether its value is within the margin."""
        score = self._score(subset)
        return score is not None and self._least is not None and score >= self._least

    def _threshold(self, score: Fraction, margin: Fraction) -> Fraction:
        if self._problem.objective.name == "r":  # r |r|, so that r (1 -/+ margin) is squared
            factor = 1 - margin if score > 0 else 1 + margin
            return score * factor * factor
        return score - margin * abs(score)

    def _score(self, subset: Subset) -> Fraction | None:
        p = self._problem
        if p.several:
            p = p.of_rows(np.array(sorted(subset)))
            value = ExactFit(p.x, p.y, p.weights, p.intercept).value(p.objective.name)
        else:
            x, y = ([column[i] for i in subset] for column in self._columns)
            products = (sum(map(mul, u, v)) for u, v in ((x, x), (x, y), (y, y)))
            value = of_sums(p.objective.name, p.k, sum(x), sum(y), *products)
        return None if value is None else p.objective.sense * value

    @cached_property
    def _columns(self) -> list[list[int]]:
        x, y = self._problem.x, self._problem.y
        if self._problem.objective.name not in ("tv", "dv"):
            return [whole_numbers(column)[0] for column in (x, y)]
        both, _ = whole_numbers(np.concatenate([x, y]))  # in one unit
        return [both[: len(x)], both[len(x) :]]
