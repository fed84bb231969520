"""Proofs with several predictors are accepted where they are true, refused where they are not."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from fractions import Fraction

import fuzz_proofs_several
import fuzz_runs
import naive_several
import numpy as np
import pytest

import quadsweep as qs
from quadsweep.cli.application import run as cli
from quadsweep.proofs import checker, writer
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.writer import Statement, Unproved, largest_covariance, prove, write


def plane(seed=0, n=14, p=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    y = x.sum(axis=1) + 0.3 * rng.normal(size=n)
    y[: n // 5] += 4
    return x, y


@functools.cache
def proved(objective, n=14, p=2, k=11):
    """An optimum with its proof by boxes, and the columns."""
    x, y = plane(n=n, p=p)
    best = qs.solve(x, y, k, objective=objective)
    asked = Statement(x, y, k, objective, best.bound, best.inliers.tolist(), best.value)
    return write(asked, list_up_to=0), [*x.T.tolist(), y.tolist()]


def refused(content, columns):
    with pytest.raises(checker.Refuted) as why:
        checker.Checker(content).check(*columns)
    return str(why.value)


@pytest.mark.parametrize("part", range(2))
def test_no_proof_is_refused(part):
    numbers = range(10 * part, 10 * (part + 1))
    found = fuzz_runs.tally(fuzz_proofs_several.judge, 3, numbers, {"high": 11, "nodes": 600})
    assert found.wrong == []
    assert found.count(fuzz_runs.RIGHT) >= 5


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_solve_writes_a_proof_that_checks(objective, tmp_path):
    x, y = plane(n=24)
    result = qs.solve(x, y, drop=4, objective=objective, proof=True)
    result.proof.save(tmp_path / "p")
    assert qs.check(tmp_path / "p", x, y).proved
    with pytest.raises(ValueError, match="other data"):
        qs.check(tmp_path / "p", x[:, ::-1], y)


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_a_threshold_that_a_subset_passes_is_refused(objective):
    proof, columns = proved(objective)
    content = copy.deepcopy(proof.content)
    (part,) = content["parts"]
    part["claim"]["subset"] = None
    part["claim"]["threshold"] *= 0.99 if objective == "r2" else 1.02
    refused(content, columns)


@pytest.mark.slow
def test_every_part_of_a_proof_is_needed():
    proof, columns = proved("r2")

    def changed(change):
        content = copy.deepcopy(proof.content)
        change(content["parts"][0])
        return refused(content, columns)

    assert "leave out frame 0" in changed(lambda c: c["roots"].pop(0))
    assert "leave out" in changed(lambda c: c["roots"][1]["box"][0].__setitem__(0, -0.99))
    assert "triangle" in changed(lambda c: c["placement"]["matrix"][1].__setitem__(1, 0.0))
    assert "further from" in changed(lambda c: c["claim"].__setitem__("tol", 0.0))
    assert "node" in changed(lambda c: c["roots"][2]["nodes"][-1].__setitem__(0, "bound"))


def test_what_columns_leave_is_that_of_fractions():
    rng = np.random.default_rng(4)
    table = rng.integers(-3, 4, (9, 4)).astype(float)
    table[:, 1] = 2 * table[:, 0]  # dependent
    asked = {"objective": "lts", "keep": 4, "or_more": False, "threshold": 1.0, "sign": 1,
             "beta": 0, "margin": None}  # fmt: skip
    matrix = [[0.0] * j + [1.0] for j in range(4)]
    part = {"claim": asked, "placement": {"shift": [0.0] * 4, "matrix": matrix}}
    claim = checker.StatedClaim(part, table.T.tolist())
    for _ in range(20):
        rows = rng.permutation(9)[: int(rng.integers(1, 9))].tolist()
        design = [[1.0, *table[i, :3]] for i in rows]
        expected = naive_several.rss(design, table[rows, 3].tolist())
        value = Fraction(expected)
        assert not claim.beats(claim.sums(rows), value)
        assert claim.beats(claim.sums(rows), value + Fraction(1, 10**30))


def test_checking_what_was_written_takes_no_longer_than_the_time_left(monkeypatch):
    x, y = plane()
    best = qs.solve(x, y, 11)
    asked = Statement(x, y, 11, "r2", best.bound, best.inliers.tolist(), best.value)
    proof = write(asked, list_up_to=0)
    assert proof.nodes > 3
    monkeypatch.setattr(writer, "write", lambda *_, **__: proof)
    assert prove(asked, time_limit=1e9) is proof
    with pytest.raises(Unproved, match="time_limit"):
        prove(asked, time_limit=0.0)


def test_what_has_no_kind_of_proof_is_said():
    x, y = plane(n=20, p=6)
    with pytest.raises(ValueError, match="up to 5 predictors; got 6"):
        qs.solve(x, y, drop=2, proof=True)
    with pytest.raises(ValueError, match="without weights"):
        qs.solve(x[:, :2], y, drop=2, proof=True, weights=np.ones(20))


def test_the_command_line_writes_and_checks(tmp_path, capsys):
    x, y = plane(n=16)
    table, proof = tmp_path / "d.csv", str(tmp_path / "d.proof")
    rows = [",".join(map(repr, row)) for row in np.column_stack([x, y]).tolist()]
    table.write_text("\n".join(["a,b,c", *rows]) + "\n")
    columns = ["--x", "a", "--x", "b", "--y", "c"]
    assert cli(["solve", str(table), *columns, "--drop", "2", "--proof", proof]) == 0
    assert cli(["check", proof, str(table), *columns]) == 0
    assert "proved: no 14 of 16 rows have r2 above" in capsys.readouterr().out
    alone = [sys.executable, checker.__file__, proof, str(table)]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:22]) == (0, 'proved, of 16 rows: {"')


def test_a_slope_s_margin_is_checked_exactly():
    rng = np.random.default_rng(7)
    x = rng.normal(size=30)
    y = 0.4 * x + 0.8 * rng.normal(size=30)
    found = qs.audit(x, y, claim="sign", proof=True)
    claim = found.proof.parts[0]["claim"]
    assert claim["margin"] == found.tol
    most = largest_covariance(x, y, claim["keep"], found.tol)
    assert claim["threshold"] == most > 0
    forged = copy.deepcopy(found.proof.content)
    forged["parts"][0]["claim"]["threshold"] = most * (1 + 1e-12)
    assert "passes the margin" in str(qs.check(Proof(forged), x, y))
    numbers, unit = checker.in_units([list(map(Fraction, v.tolist())) for v in (x, y)])
    (a, *_), (b, *_) = (checker.spread(column, unit, claim["keep"]) for column in numbers)
    assert a > 0 < b
