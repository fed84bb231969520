"""Audits of reported tests against every refit by statsmodels, on seeded regressions.

    python tests/fuzzing/fuzz_estimating.py --instances 6000 --state fuzz_estimating.jsonl

Robust standard errors (HC0, HC1, now and then HC2, HC3); clusters, of which whole ones or single
rows are removed; one instrument, the sign and the test of two-stage least squares; logistic and
Poisson regressions, the sign and the z test. x and the errors are normal, with heavy tails, binary
or on a lattice, dummies among the controls, with and without weights. Half of the audits may try
removals one by one; the others must do without, and the boxes list nothing but single subsets.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
from fuzz_controls import replaced
from fuzz_runs import Verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import naive_estimating
from naive_estimating import Instance, TooNear

import quadsweep as qs
from quadsweep import _core
from quadsweep.arrays import Floats
from quadsweep.auditing.oracles.refits import Refits

FAMILIES = ("normal", "heavy", "binary", "lattice", "dummies")
KINDS = ("robust", "robust", "robust", "clusters", "instruments", "links")
REFITS = 250  # by statsmodels, for one audit
SECONDS = 20.0
SECONDS_UNLISTED = 1.0


def draw(seed: int, number: int) -> tuple[Instance | None, str]:
    """A question, None where it has no answer, and its kind."""
    rng = np.random.default_rng([seed, number])
    family = FAMILIES[number % len(FAMILIES)]
    what = KINDS[number // len(FAMILIES) % len(KINDS)]
    n, q = int(rng.integers(9, 30)), int(rng.integers(0, 3))
    others = "binary" if family == "dummies" else family
    x = column(rng, n, family)
    z = np.column_stack([np.ones((n, 0)), *(column(rng, n, others) for _ in range(q))])
    noise = rng.standard_t(2, size=n) if family == "heavy" else rng.normal(size=n)
    y = rng.uniform(0, 1.2) * x + z @ rng.normal(size=q) + noise * rng.uniform(0.3, 1.5)
    if family == "lattice":
        y = np.rint(2 * y)
    weights = rng.uniform(0.5, 3.0, size=n) if rng.uniform() < 0.25 else None
    groups, vcov = None, str(rng.choice(["HC0", "HC1", "HC1", "HC2", "HC3"]))
    if what == "clusters":
        vcov = np.arange(n) % int(rng.integers(4, 9))
        groups = None if rng.uniform() < 0.3 else vcov
    elif rng.uniform() < 0.2:
        groups = np.arange(n) // 2
    claim = str(rng.choice(["significance", "significance", "reverse"]))
    instrument = None
    if what == "instruments":
        instrument, vcov = x, str(rng.choice(["classical", "HC1"]))
        x = rng.uniform(0.5, 1.5) * x + rng.normal(size=n) * rng.uniform(0.2, 1.0)
        claim = str(rng.choice(["sign", "sign", "significance", "reverse"]))
    link = ""
    if what == "links":
        link, weights, vcov = str(rng.choice(["logit", "poisson"])), None, "classical"
        eta = rng.uniform(0, 1) * x + z @ rng.normal(size=q) / 2
        y = rng.poisson(np.exp(np.clip(eta, -3, 2))).astype(float)
        if link == "logit":
            y = (rng.uniform(size=n) < 1 / (1 + np.exp(-eta))).astype(float)
        claim = str(rng.choice(["sign", "sign", "sign", "significance"]))
    case = Instance(x, y, z, vcov, claim, groups, weights, instrument, link=link)
    return (case if asks(case) else None), f"{what}, {family}"


def column(rng: np.random.Generator, n: int, family: str) -> Floats:
    if family == "heavy":
        return np.asarray(rng.standard_t(3, size=n))
    if family == "binary":
        return (rng.uniform(size=n) < rng.uniform(0.2, 0.8)).astype(float)
    if family == "lattice":
        return rng.integers(0, 4, size=n).astype(float)
    return rng.normal(size=n)


def asks(case: Instance) -> bool:
    """Whether there is a test on all rows, and no doubt about it."""
    whole = np.column_stack([np.ones(case.n), case.controls])
    if naive_estimating.independent(whole).shape[1] < whole.shape[1]:
        return False
    try:
        full = naive_estimating.t_test(case, np.arange(case.n))
    except TooNear:
        return False
    return full is not None and abs(full[1] - case.level) > naive_estimating.NEAR


def most_removals(case: Instance) -> int:
    """As many as leave no more than so many refits."""
    units, most, refits = len(np.unique(case.units)), 0, 0
    while refits <= REFITS and most < units - 2:
        most += 1
        refits += math.comb(units, most)
    return max(most - 1, 1)


def judge(seed: int, number: int, listing: str = "half") -> Verdict:
    case, kind = draw(seed, number)
    if case is None:
        return Verdict(kind, fuzz_runs.NONE)
    boxes = listing == "never" or (
        listing == "half" and number // (len(FAMILIES) * len(KINDS)) % 2 == 1
    )
    kind += ", not listed" if boxes else ""
    most = most_removals(case)
    try:
        truth = naive_estimating.fewest(case, most)
        with without_listing() if boxes else usual():
            limit = SECONDS_UNLISTED if boxes else SECONDS
            found = audit(case, max_drop=most, n_jobs=1, time_limit=limit)
    except (TooNear, ValueError):
        return Verdict(kind, fuzz_runs.NONE)
    if not is_right(found, truth, most):
        return Verdict(kind, fuzz_runs.WRONG, f"question {number}: {truth}, {case}: {found}")
    if not found.success:
        return Verdict(kind, fuzz_runs.OPEN, f"question {number}, {kind}: {found.message}")
    return Verdict(kind, fuzz_runs.RIGHT)


def audit(case: Instance, **limits: Any) -> qs.Audit:
    asked = {
        "vcov": case.vcov, "claim": case.claim, "groups": case.groups, "weights": case.weights,
        **limits,
    }  # fmt: skip
    controls = case.controls if case.controls.shape[1] else None
    if case.link:
        design = np.column_stack([case.x, np.ones(case.n), case.controls])
        fitted = naive_estimating.maximum(case.link, case.y, design)
        return qs.audit(fitted, term="x1", **{**asked, "vcov": None})
    if case.instrument is None:
        return qs.audit(case.x, case.y, controls=controls, **asked)
    frame = {"y": case.y, "x": case.x, "z": case.instrument}
    frame |= {f"w{j}": column for j, column in enumerate(case.controls.T)}
    terms = [f"w{j}" for j in range(case.controls.shape[1])] + ["[x ~ z]"]
    return qs.audit(f"y ~ {' + '.join(terms)}", data=frame, **asked)


def is_right(found: qs.Audit, truth: int | None, most: int) -> bool:
    """Whether the interval holds the truth, and a number is the least."""
    if found.upper is None:
        return found.lower <= (most + 1 if truth is None else truth) and (
            truth is None or not found.success
        )
    return truth is not None and found.lower <= truth <= found.upper


@contextmanager
def usual() -> Iterator[None]:
    yield


@contextmanager
def without_listing() -> Iterator[None]:
    """Audits that try no removals one by one, and boxes of which only single subsets are listed."""
    alone = {
        name: partial(getattr(_core, name), enumerate=1)
        for name in ("decide_robust", "decide_likelihood")
    }
    never = classmethod(lambda cls, case: False)
    with replaced(Refits, handles=never), replaced(_core, **alone):
        yield


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=6_000, quick=40)
    parser.add_argument("--listing", choices=("half", "always", "never"), default="half")
    given = parser.parse_args()
    return fuzz_runs.main(judge, given, chunk=40, options={"listing": given.listing})


if __name__ == "__main__":
    sys.exit(main())
