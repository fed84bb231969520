"""Proofs about the sign of a coefficient given controls: true ones are accepted, others refused."""

from __future__ import annotations

import copy
import functools
from itertools import combinations

import naive_several
import numpy as np
import pytest

import quadsweep as qs
from quadsweep.cli.application import run as cli
from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, Unproved, write


def regression(seed, n=9, q=1, whole=False):
    rng = np.random.default_rng(seed)
    z = rng.integers(-2, 3, (n, q)).astype(float) if whole else rng.normal(size=(n, q))
    x = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n) + z.sum(axis=1)
    noise = rng.integers(-1, 2, n) if whole else 0.6 * rng.normal(size=n)
    return z, x, 0.9 * x + z.sum(axis=1) + noise


def statement(z, x, y, k, sign=-1, beta=0.0):
    return Statement(np.column_stack([z, x]), y, k, "cov", 0.0, range(len(y)), 0.0,
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
    except (checker.Refuted, ValueError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("q", [1, 2])
def test_what_is_accepted_is_true_of_all_subsets(q, whole):
    """By boxes and by listing, and the same trees with other claims over them."""
    proved = 0
    for seed in range(3):
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
    assert proved >= 2


@functools.cache
def valid():
    z, x, y = regression(3, n=14, q=2)
    proof = write(statement(z, x, y, 12), list_up_to=0)
    columns = [*z.T.tolist(), x.tolist(), y.tolist()]
    assert accepted(proof.content, columns)
    return proof, columns


def forged(change):
    proof, columns = valid()
    content = copy.deepcopy(proof.content)
    columns = change(content["parts"][0], columns) or columns
    content["data"] = checker.describe_data(columns)
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
        lambda part, c: part["roots"][0]["box"][0].__setitem__(
            0, 0.0
        ),  # one sign of an entry alone
        lambda part, c: part["roots"][0]["box"][0].__setitem__(1, 0.0),
        lambda part, c: (
            [node[1].pop() for r in part["roots"] for node in r["nodes"] if node[1]] and None
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
        "claim": {"objective": "cov", "keep": 2, "or_more": True, "sign": 1, "beta": 0.0,
                  "threshold": 0.0, "margin": None, "subset": None, "tol": None},
        "placement": {"shift": [0.5, -1.0, 2.0, 1.0],
                      "matrix": [[2.0], [-3.0, 1.0], [0.5, 0.25, 4.0], [1.0, -2.0, 0.0, 0.5]]},
    }  # fmt: skip
    claims = {}
    for sign in (1, -1):
        part["claim"]["sign"] = sign
        claims[sign] = checker.StatedClaim(copy.deepcopy(part), columns)
    values = set()
    for size in range(2, 9):
        for rows in combinations(range(8), size):
            value = covariance(z, x, y, rows, 1)
            design = [[1.0, *row] for row in z[list(rows)].tolist()]
            a, b, _ = naive_several.partial_sums(x[list(rows)], y[list(rows)], design)
            assert claims[1].hopeless(claims[1].sums(rows)) == (a == 0 or b == 0), rows
            for sign, claim in claims.items():
                assert claim.beats(claim.sums(rows), claim.t) == (sign * value > 0), rows
            values.add((value > 0) - (value < 0))
            assert value == 0 or not set(rows) <= set(range(6))
    assert values == {-1, 0, 1}


@pytest.mark.parametrize(("claim", "threshold"), [("sign", None), ("slope", (0.2, 1.6))])
def test_an_audit_s_lower_bound_is_proved_and_true_of_all_subsets(claim, threshold):
    proved = 0
    for seed in range(5):
        z, x, y = regression(seed, n=10, q=1 + seed % 2)
        found = qs.audit(x, y, controls=z, claim=claim, threshold=threshold, proof=True)
        if found.lower < 2:
            assert found.proof is None
            continue
        proved += 1
        assert qs.check(found.proof, x, y, controls=z).proved
        assert len(found.proof.parts) == (1 if claim == "sign" else 2)
        for part in found.proof.parts:
            said = part["claim"]
            assert said["keep"] == 10 - (found.lower - 1)
            assert is_true(z, x, y, said["keep"], said["sign"], said["beta"]), seed
    assert proved >= 2


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_all_rows_may_go_that_say_anything_about_x_or_y(turned):
    """Few are treated: what is left without them has no coefficient, and no bound above 0."""
    rng = np.random.default_rng(7)
    z, treated = rng.normal(size=40), (np.arange(40) < 4).astype(float)
    outcome = 3 * treated + z + rng.normal(size=40)
    x, y = (outcome, treated) if turned else (treated, outcome)
    found = qs.audit(x, y, controls=z, proof=True)
    assert found.lower > 5
    kinds = [node[0] for root in found.proof.parts[0]["roots"] for node in root["nodes"]]
    assert "copies" in kinds
    assert qs.check(found.proof, x, y, controls=z).proved
    forged = copy.deepcopy(found.proof.content)
    for root in forged["parts"][0]["roots"]:  # what is left with some of them is to be listed
        root["nodes"] = [["list", [], []]]
    with pytest.MonkeyPatch.context() as few:
        few.setattr(checker, "Checker", functools.partial(checker.Checker, max_steps=10_000))
        assert not accepted(forged, [z.tolist(), x.tolist(), y.tolist()])


def test_a_proof_is_about_its_controls(tmp_path):
    z, x, y = regression(1, n=30, q=2)
    found = qs.audit(x, y, controls=z, max_drop=4, proof=True)
    assert found.proof.nodes > 1
    found.proof.save(tmp_path / "p")
    keep = 31 - found.lower
    said = f"no {keep} or more of 30 rows have a coefficient of x below 0, given 2 controls"
    assert str(qs.check(tmp_path / "p", x, y, controls=z)) == f"proved: {said}"
    with_intercept = np.column_stack([z[:, 0], np.full(30, 3.0), z[:, 1]])
    assert qs.check(found.proof, x, y, controls=with_intercept).proved
    assert qs.check(found.proof, np.column_stack([z, x]), y).proved
    for other in (None, z[:, :1], z[:, ::-1], np.column_stack([z, x])):
        with pytest.raises(ValueError, match="other data"):
            qs.check(found.proof, x, y, controls=other)
    with pytest.raises(ValueError, match="the same length"):
        qs.check(found.proof, x, y, controls=z[1:])


def test_rows_with_missing_values_and_no_more_than_an_intercept(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("formulaic")
    z, x, y = regression(2, n=30)
    table = pd.DataFrame({"x": x, "z": z[:, 0], "y": y})
    table.loc[4, "z"] = np.nan
    asked = {"term": "x", "data": table, "nan_policy": "omit", "proof": True}
    found = qs.audit("y ~ x + z", **asked)
    assert qs.check(found.proof, table["x"], table["y"], controls=table[["z"]]).proved
    alone = qs.audit("y ~ x", **asked)
    assert qs.check(alone.proof, x, y).proved


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"claim": "significance"}, "claim 'significance'"),
        ({"claim": "r2", "threshold": 0.5}, "claim 'r2'"),
        ({"groups": np.arange(20) // 2}, "groups"),
        ({"weights": np.arange(20) + 1.0}, "weights"),
        ({"controls": np.arange(120.0).reshape(20, 6) ** 0.5 % 1}, "6 controls"),
        ({"controls": np.arange(20.0)[:, None] * [1, 2]}, "z2, which other controls explain"),
    ],
)
def test_what_has_no_kind_of_proof_is_said_in_a_sentence(more, what):
    z, x, y = regression(4, n=20)
    with pytest.raises(ValueError, match=f"claims 'sign' and 'slope', .*; got {what}: that is"):
        qs.audit(x, y, **({"controls": z} | more), proof=True)


def test_no_time_for_a_proof_is_no_proof():
    z, x, y = regression(5, n=60, q=2)
    found = qs.audit(x, y, controls=z, time_limit=1e-9, proof=True)
    assert (found.status, found.proof) == ("time_limit", None)


def test_the_command_line_writes_and_checks(tmp_path, capsys):
    z, x, y = regression(6, n=24)
    file, proof = str(tmp_path / "d.csv"), str(tmp_path / "d.proof")
    rows = [",".join(map(repr, row)) for row in np.column_stack([x, z, y]).tolist()]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    named = ["--x", "a", "--y", "c", "--controls", "b"]
    assert cli(["audit", file, *named, "--proof", proof]) == 0
    for columns in (named, ["--x", "b", "--x", "a", "--y", "c"],
                    ["--formula", "c ~ a + b", "--term", "a"]):  # fmt: skip
        assert cli(["check", proof, file, *columns]) == 0
        assert "have a coefficient of x below 0, given 1 control" in capsys.readouterr().out
    assert cli(["check", proof, file, "--x", "a", "--y", "c"]) == 2
    assert cli(["check", proof, file, "--formula", "c ~ a + b", "--term", "d"]) == 2
    assert "no term 'd' in the formula; there are: a, b" in capsys.readouterr().err
    other = str(tmp_path / "other.proof")
    assert cli(["audit", file, *named, "--groups", "b", "--proof", other]) == 2
    assert "got groups" in capsys.readouterr().err
    assert cli(["audit", file, *named, "--time-limit", "1e-9", "--proof", other]) == 3
    assert "there is no proof" in capsys.readouterr().err
    assert not (tmp_path / "other.proof").exists()
