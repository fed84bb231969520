"""Do m removals suffice, and which? Who can answer that for a design and a condition.

An audit knows one *problem* for each way in which its claim can break: a condition (``conditions``)
on the subsets of a design (``design``). The search for the fewest removals (``minimal_removal``)
asks oracles about a problem, best first, and falls back on the next one where an oracle does not
decide.

``choice``         the oracles there are, in the order in which they are asked, and what must
                   happen first
``enumeration``    every removal of m units, where they are few enough
``known_variances``  z tests of a mean or a slope through the origin, for any number of rows
``two_values``     a difference of means, for a term of two values alone
``plane``          the engine of the plane, for x and y alone
``regression``     the engine's boxes, for a few controls; a bound for any number of them, by
                   branching on units
``single_rows``    the test without each row, by updates of the fit, whatever the controls
``refits``         every removal of a few units refitted, for any standard errors
``estimating``     boxes of coefficients, for robust and clustered standard errors
``scores``         the same with any controls, HC2 and HC3, and effects inside the clusters
``likelihood_bound``  norms, for the sign in logistic and Poisson regressions with any controls
``outofcore``      the engine of rows that are not in memory
``threshold_schedule``  how engines are asked whether a correlation falls below a threshold, or
                   passes one that rises with removals

A new kind of standard error or estimator is a new kind of problem and an oracle for it. What every
oracle finds is a removal: positions of units (rows, or groups) in ascending order. Kept rows occur
only where the engine is asked.

Imports the rest of auditing but ``minimal_removal`` and ``audit``, which import it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.resources import OutOfPatience, Resources


@dataclass(frozen=True)
class Decision:
    """What an oracle says about removals of ``fewest`` to ``most`` units.

    Attributes
    ----------
    removal : units whose removal breaks the claim, at most ``most`` of them, checked; or None.
    refuted : proved that no removal of ``fewest`` to ``most`` units breaks it.
    refuted_from : proved that no removal of so many to ``most`` units does, or None.

    With none of them the question is undecided.
    """

    removal: Ints | None = None
    refuted: bool = False
    refuted_from: int | None = None

    @property
    def decided(self) -> bool:
        return self.refuted or self.removal is not None or self.refuted_from is not None


REFUTED = Decision(refuted=True)
UNDECIDED = Decision()


class Oracle(ABC):
    """Decides for one problem whether some numbers of removals suffice.

    How the search for the fewest uses it:

    - ``handles(problem)`` says whether the oracle has anything to say about such a problem; only
      then is it made, once for an audit.
    - a search (``is_search``) is asked about all numbers at first, with short patience.
    - ``refutes_at_once(fewest, most)`` is asked next, with ranges that double: bounds without
      branching. Leave it as it is where there are none.
    - ``decide(fewest, most, patience)`` is then asked about ranges between the two ends known, the
      range halved where it stays undecided. It keeps to ``resources``: calls ``resources.check()``
      now and then, adds to ``resources.nodes``, and raises ``OutOfPatience`` where the question
      takes longer than ``resources.within(patience)`` seconds. It may keep what it has found out,
      and go on from there when it is asked again.
    - an answer that is undecided will not be asked for again: there must be no point in it.
    """

    #: Whether it can find a removal; one that can only refute is asked about the lowest range.
    finds = True
    #: Whether it decides so fast that better removals need not be looked for before.
    is_fast = False
    #: Whether it is about a necessary condition of the break.
    is_necessary = False
    #: Whether it is a search that decides many problems in milliseconds: it is asked before bounds.
    is_search = False
    #: Whether it decides about one unit, whatever there is, and about nothing else.
    is_about_one = False

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        self.problem, self.resources = problem, resources

    @classmethod
    @abstractmethod
    def handles(cls, problem: BreakProblem) -> bool:
        """Whether it can decide anything about this problem."""

    @abstractmethod
    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        """Return a removal of at most ``most`` units that breaks the claim, or a proof that none of
        ``fewest`` to ``most`` units does, or that none of the upper part of these does, or neither.
        """

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        """Whether a bound that costs little already proves it."""
        return False


def first_decision(
    oracles: Iterable[Oracle], fewest: int, most: int, patience: float
) -> tuple[Decision, bool]:
    """The answer of the first oracle that decides; and whether one only ran out of patience."""
    impatient = False
    for oracle in oracles:
        try:
            decision = oracle.decide(fewest, most, patience)
        except OutOfPatience:
            impatient = True
        else:
            if decision.decided:
                return decision, False
    return UNDECIDED, impatient
