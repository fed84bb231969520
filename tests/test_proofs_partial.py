"""Proofs about the sign of a coefficient given controls: true ones are accepted, others refused."""

from __future__ import annotations

import copy
from itertools import combinations

import naive_several
import numpy as np
import pytest

from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, Unproved, write


def regression(seed, n=9, q=1, whole=False):
    rng = np.random.default_rng(seed)
    z = rng.integers(-2, 3, (n, q)).astype(float) if whole else rng.normal(size=(n, q))
    x = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n) + z.sum(axis=1)
    noise = rng.integers(-1, 2, n) if whole else 0.6 * rng.normal(size=n)
    return z, x, 0.9 * x + z.sum(axis=1) + noise


def statement(z, x, y, k, sign=-1, beta=0.0):
    return Statement(np.column_stack([z, x]), y, k, "partial", 0.0, range(len(y)), 0.0,
                     best=False, or_more=True, sign=sign, beta=beta)  # fmt: skip


def covariance(z, x, y, rows, sign=-1, beta=0.0):
    """Of x and sign (y - beta x) given z, in rational arithmetic."""
    rows = list(rows)
    design = [[1.0, *row] for row in z[rows].tolist()]
    a, _, c = naive_several.partial_sums(x[rows].tolist(), y[rows].tolist(), design)
    return sign * (c - naive_several.Fraction(beta) * a)


def is_true(z, x, y, k, sign=-1, beta=0.0):
    sizes = range(k, len(y) + 1)
    subsets = (rows for size in sizes for rows in combinations(range(len(y)), size))
    return all(covariance(z, x, y, rows, sign, beta) <= 0 for rows in subsets)


def accepted(content, columns):
    try:
        checker.Checker(content).check(*columns)
    except (checker.Refuted, checker.Unreadable):
        return False
    return True


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("q", [1, 2])
def test_what_is_accepted_is_true_of_all_subsets(q, whole):
    """By boxes and by listing, and the same trees with other claims over them."""
    proved = 0
    for seed in range(6):
        z, x, y = regression(seed, q=q, whole=whole)
        columns = [*z.T.tolist(), x.tolist(), y.tolist()]
        for k, beta in ((8, 0.0), (7, 0.25)):
            truth = {j: is_true(z, x, y, j, beta=beta) for j in (k, k - 1, k - 2)}
            listed = write(statement(z, x, y, k, beta=beta))
            assert accepted(listed.content, columns) == truth[k], seed
            try:
                proof = write(statement(z, x, y, k, beta=beta), list_up_to=0, most_nodes=150)
            except Unproved:
                continue
            proved += 1
            for keep, true in truth.items():
                content = copy.deepcopy(proof.content)
                content["parts"][0]["claim"]["keep"] = keep
                assert true or not accepted(content, columns), (seed, k, keep)
    assert proved >= 3


def forged(change):
    z, x, y = regression(3, n=14, q=2)
    proof = write(statement(z, x, y, 12), list_up_to=0)
    columns = [*z.T.tolist(), x.tolist(), y.tolist()]
    assert accepted(proof.content, columns)
    content = copy.deepcopy(proof.content)
    columns = change(content["parts"][0], columns) or columns
    content["data"] = checker.about(columns)
    return content, columns


@pytest.mark.parametrize(
    "change",
    [
        lambda part, c: [c[0], c[2], c[1], c[3]],  # x for a control
        lambda part, c: [c[0], c[1], c[3], c[2]],  # y for x
        lambda part, c: [c[1], c[2], c[3]],  # a control less
        lambda part, c: [*c[:3], [-v for v in c[3]]],
        lambda part, c: part["roots"].pop(0) and None,
        lambda part, c: part["roots"].pop() and None,
        lambda part, c: part["roots"][0]["box"].__setitem__(0, 0.0),  # one sign of an entry alone
        lambda part, c: part["roots"][0]["box"].__setitem__(1, 0.0),
        lambda part, c: (
            [node[1].pop(3) for r in part["roots"] for node in r["nodes"] if node[1]] and None
        ),
    ],
)
def test_a_forged_proof_is_refused(change):
    content, columns = forged(change)
    assert not accepted(content, columns)


def test_a_subset_on_which_the_controls_explain_x_has_no_sign():
    """Nor has one on which controls depend on each other any other than that of the rest."""
    z = np.array([[0.0, 0], [0, 0], [0, 0], [1, 2], [2, 4], [3, 6], [1, 0], [0, 1]])
    x = np.array([1.0, 1, 1, 2, 3, 4, 0, 5])  # 1 + z_1 on the first six rows
    y = np.array([3.0, -1, 2, 5, 1, 7, 2, 4])
    columns = [*z.T.tolist(), x.tolist(), y.tolist()]
    part = {
        "claim": {"objective": "partial", "keep": 2, "or_more": True, "sign": 1, "beta": 0.0,
                  "threshold": 0.0, "margin": None, "subset": None, "tol": None},
        "placement": {"shift": [0.5, -1.0, 2.0, 1.0],
                      "matrix": [[2.0], [-3.0, 1.0], [0.5, 0.25, 4.0], [1.0, -2.0, 0.0, 0.5]]},
    }  # fmt: skip
    claims = {}
    for sign in (1, -1):
        part["claim"]["sign"] = sign
        claims[sign] = checker.Claim(copy.deepcopy(part), columns)
    values = set()
    for size in range(2, 9):
        for rows in combinations(range(8), size):
            value = covariance(z, x, y, rows, 1)
            for sign, claim in claims.items():
                assert claim.beats(claim.sums(rows), claim.t) == (sign * value > 0), rows
            values.add((value > 0) - (value < 0))
            assert value == 0 or not set(rows) <= set(range(6))
    assert values == {-1, 0, 1}
