"""Proofs are accepted where they are true, whatever the data, and refused where they are not."""

from __future__ import annotations

import copy
import gzip
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import fuzz_proofs
import fuzz_runs
import mutate_proofs
import numpy as np
import pytest
import rounding_proofs

import quadsweep as qs
from quadsweep.cli.application import run as cli
from quadsweep.proofs import checker, writer
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.writer import Statement, Unproved, write

OBJECTIVES = fuzz_proofs.OBJECTIVES


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_proof_is_refused(part):
    numbers, options = range(90 * part, 90 * (part + 1)), {"low": 5, "high": 60, "nodes": 300}
    found = fuzz_runs.tally(fuzz_proofs.judge, 16, numbers, options)
    assert found.wrong == []
    assert found.count(fuzz_runs.RIGHT) >= 78


@pytest.mark.parametrize("mutations", [20, pytest.param(150, marks=pytest.mark.slow)])
def test_a_mutated_proof_is_refused_or_true(mutations):
    refused, accepted, false = mutate_proofs.run(seed=mutations, mutations=mutations)
    assert false == []
    assert refused.total() > mutations / 2
    assert accepted.total() > mutations / 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_solve_writes_a_proof_that_checks(objective, tmp_path):
    x, y = np.random.default_rng(1).normal(size=(2, 80))
    result = qs.solve(x, y, k=60, objective=objective, proof=True)
    assert result.proof is not None
    result.proof.save(tmp_path / "p.json.gz")
    found = qs.check(tmp_path / "p.json.gz", x, y)
    assert found.proved, found
    assert found.nodes == result.proof.nodes > 1


def test_sentinels_that_make_the_root_wide_leave_a_proof_that_checks():
    """Boxes are halved some sixty times: their corners are then still those of the checker."""
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    x[0], y[:2] = 1e10, (1e15, -1e15)
    result = qs.solve(x, y, k=20, objective="tv", proof=True)
    assert result.proof.nodes > 100
    assert qs.check(result.proof, x, y).proved


def test_without_asking_nothing_is_kept():
    assert qs.solve([1, 2, 3, 4.5], [1, 2, 4, 3], k=3).proof is None


def test_rows_with_missing_values_are_left_out():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 60))
    x[[3, 20]] = np.nan
    result = qs.solve(x, y, drop=9, nan_policy="omit", proof=True)
    assert qs.check(result.proof, x, y).proved


def test_the_largest_correlation_may_be_negative():
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = -x + 0.2 * rng.normal(size=40)
    result = qs.solve(x, y, k=34, objective="r", proof=True)
    assert result.value < 0
    assert qs.check(result.proof, x, y).proved


def counterexample() -> tuple[qs.datasets.Dataset, qs.Result, qs.Result]:
    data = qs.datasets.load("nonseparable-r2")
    best = qs.solve(data.x, data.y, data.k, proof=True)
    return data, best, qs.solve(data.x, data.y, data.k, method="sweep")


def test_the_counterexample_s_optimum_is_proved_and_the_separable_runner_up_refused():
    data, best, swept = counterexample()
    assert best.inliers.tolist() == [0, 1, 2, 3, 4, 5, 7, 9]
    assert qs.check(best.proof, data.x, data.y).proved

    content = copy.deepcopy(best.proof.content)
    claim = content["parts"][0]["claim"]
    claim["subset"] = swept.inliers.tolist()
    found = qs.check(Proof(content), data.x, data.y)
    assert not found.proved
    assert "further from the threshold" in found.message

    claim |= {"threshold": swept.value + 1e-9, "tol": 2e-9}
    found = qs.check(Proof(content), data.x, data.y)
    assert not found.proved
    assert "better" in found.message


def test_the_counterexample_is_proved_by_boxes_as_well():
    data, best, swept = counterexample()
    x, y = (np.asarray(v, dtype=float) for v in (data.x, data.y))
    columns = x.tolist(), y.tolist()
    good = best.inliers.tolist()
    threshold = best.value + 1e-9
    statement = Statement(x, y, data.k, "r2", threshold, good, best.value)
    proof = write(statement, list_up_to=0, enumerate_up_to=3)
    assert proof.nodes > 20
    checker.Checker(proof.content).check(*columns)
    runner_up = Statement(
        x, y, data.k, "r2", swept.value + 1e-9, swept.inliers.tolist(), swept.value
    )
    with pytest.raises(Unproved, match="better") as found:
        write(runner_up, list_up_to=0)
    assert sorted(found.value.better) == good


@pytest.mark.parametrize("square", [0, 5e-324, 1e-200, 1e-9, 0.25, 0.3, 1 - 2**-53, 1, 3, 1e300])
def test_roots_are_just_below(square):
    root, square = checker.below_root(Fraction(square)), Fraction(square)
    assert root**2 <= square <= (root * (1 + Fraction(1, 2**60))) ** 2


def test_other_data_are_noticed():
    x, y = np.random.default_rng(4).normal(size=(2, 12))
    proof = qs.solve(x, y, k=9, proof=True).proof
    y[0] = np.nextafter(y[0], 9)
    with pytest.raises(ValueError, match="other data"):
        qs.check(proof, x, y)


def test_what_is_no_proof_is_said_to_be_none(tmp_path):
    (tmp_path / "p").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(ValueError, match="malformed"):
        qs.check(tmp_path / "p", [1, 2, 3], [1, 2, 3])
    (tmp_path / "p").write_text("nothing")
    with pytest.raises(ValueError, match="not a proof"):
        qs.check(tmp_path / "p", [1, 2, 3], [1, 2, 3])


def test_methods_that_prove_nothing_write_no_proof():
    with pytest.raises(ValueError, match="proof=True needs method"):
        qs.solve([1, 2, 3, 4.5], [1, 2, 4, 3], k=3, method="sweep", proof=True)
    with pytest.raises(ValueError, match="var"):
        qs.solve([1, 2, 3, 4.5], [1, 2, 4, 3], k=3, objective="var", proof=True)


def write_table(path: Path, x, y) -> str:
    rows = "\n".join(f"{u!r},{w!r}" for u, w in zip(x.tolist(), y.tolist(), strict=True))
    path.write_text(f"u,w\n{rows}\n")
    return str(path)


def test_the_command_line_writes_and_checks(tmp_path, capsys):
    x, y = np.random.default_rng(5).normal(size=(2, 50))
    table, proof = write_table(tmp_path / "d.csv", x, y), str(tmp_path / "d.proof")
    assert cli(["solve", table, "--drop", "8", "--proof", proof]) == 0
    assert cli(["check", proof, table]) == 0
    assert "proved: no 42 of 50 rows have r2 above" in capsys.readouterr().out

    content = Proof.load(proof).content
    content["parts"][0]["claim"]["threshold"] -= 2e-9
    Proof(content).save(proof)
    assert cli(["check", proof, table]) == 1
    assert "refuted" in capsys.readouterr().out
    assert cli(["check", proof, write_table(tmp_path / "e.csv", x, y + 1)]) == 2
    assert cli(["check", str(tmp_path / "none"), table]) == 2


def test_a_refused_proof_names_its_box(tmp_path):
    x, y = np.random.default_rng(6).normal(size=(2, 60))
    proof = qs.solve(x, y, k=45, proof=True).proof
    content = json.loads(json.dumps(proof.content))
    closed = next(n for n in content["parts"][0]["roots"][0]["nodes"] if n[0] == "bound")
    closed[2][-1] += 100.0
    found = qs.check(Proof(content), x, y)
    assert not found.proved
    assert "<= p1 <=" in found.message


def test_the_checker_is_a_file_that_needs_nothing_else(tmp_path):
    x, y = np.random.default_rng(5).normal(size=(2, 50))
    table, proof = write_table(tmp_path / "d.csv", x, y), tmp_path / "d.proof"
    qs.solve(x, y, drop=8, proof=True).proof.save(proof)
    shutil.copy(checker.__file__, tmp_path)
    alone = [sys.executable, "-S", "-E", str(tmp_path / "checker.py"), str(proof), table]
    done = subprocess.run(alone, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('proved, of 50 rows: {"objective": "r2", "keep": 42,')
    refused = subprocess.run(
        [*alone[:-1], write_table(tmp_path / "e.csv", x, y + 1)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (refused.returncode, "other data" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("claim", "threshold"),
    [("sign", None), ("significance", None), ("reverse", None), ("r2", 0.5), ("r2", 0.02),
     ("slope", (0.1, 0.8))],
)  # fmt: skip
def test_an_audit_s_lower_bound_is_proved(claim, threshold):
    rng = np.random.default_rng(7)
    x = rng.normal(size=60)
    y = 0.4 * x + 0.8 * rng.normal(size=60)
    found = qs.audit(x, y, claim=claim, threshold=threshold, proof=True)
    assert found.lower > 1
    assert found.proof is not None
    assert qs.check(found.proof, x, y).proved
    fewest = min(part["claim"]["keep"] for part in found.proof.parts)
    assert fewest == 60 - (found.lower - 1)
    for part in found.proof.parts:
        assert part["claim"]["or_more"] or claim == "significance"

    forged = copy.deepcopy(found.proof.content)
    for part in forged["parts"]:
        part["claim"]["keep"] -= 1 + found.lower
    assert not qs.check(Proof(forged), x, y).proved


def audits_with_proofs(seeds):
    """Small audits: the proof of each is accepted, and about the removals it should be."""
    written = 0
    for seed in seeds:
        rng = np.random.default_rng([41, seed])
        n = int(rng.integers(8, 40))
        x = rng.normal(size=n)
        y = rng.choice([0.3, 0.7, 2.0]) * x + rng.normal(size=n)
        if seed % 3 == 1:
            x, y = np.round(2 * x), np.round(2 * y)
        claim, level = ("significance", "reverse")[seed % 2], rng.choice([0.01, 0.05, 0.2])
        found = qs.audit(x, y, claim=claim, level=level, proof=True)
        if found.proof is None:
            assert found.lower <= 1, (seed, found.message)
            continue
        written += 1
        checked = qs.check(found.proof, x, y)
        assert checked.proved, (seed, found.message, checked)
        sizes = {part["claim"]["keep"] for part in found.proof.parts}
        assert min(sizes) == n - found.lower + 1, (seed, found.message)
    return written


def test_proofs_of_significance_and_reversal_are_of_true_statements():
    assert audits_with_proofs(range(24)) > 12


@pytest.mark.slow
def test_many_proofs_of_significance_and_reversal_are_of_true_statements():
    assert audits_with_proofs(range(24, 800)) >= 500


def test_a_proof_that_the_checker_refuses_is_not_handed_out(monkeypatch):
    x, y = np.random.default_rng(1).normal(size=(2, 60))
    good = write(Statement(x, y, 50, "cov", 1.0, range(50), 0.5, best=False))
    asked = Statement(x, y, 50, "cov", 0.4, range(50), 0.3, best=False)
    monkeypatch.setattr(writer, "write", lambda *_, **__: good)
    assert writer.prove(asked) is good
    good.parts[0]["claim"]["threshold"] = -1.0
    with pytest.raises(Unproved, match="refused"):
        writer.prove(asked)


def test_a_small_file_may_not_ask_for_much(tmp_path):
    x, y = np.random.default_rng(1).normal(size=(2, 40))
    proof = qs.solve(x, y, drop=2, objective="cov", proof=True).proof
    bomb = copy.deepcopy(proof.content)
    bomb["parts"][0]["claim"] |= {"keep": 20, "threshold": 9.0, "subset": None}
    bomb["parts"][0]["roots"] = []
    with pytest.raises(ValueError, match=r"more than 100,000 steps: raise max_steps"):
        qs.check(Proof(bomb), x, y, max_steps=10**5)
    with pytest.raises(ValueError, match=r"more than 10 steps: raise max_steps"):
        qs.check(proof, x, y, max_steps=10)
    with gzip.open(tmp_path / "p", "wb") as file:
        file.write(b"[" + b"[]," * (checker.MAX_BYTES // 3) + b"[]]")
    with pytest.raises(ValueError, match=r"more than 67,108,864 bytes: raise max_bytes"):
        qs.check(tmp_path / "p", x, y)
    proof.save(tmp_path / "q")
    assert qs.check(tmp_path / "q", x, y, max_bytes=10_000)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        qs.check(tmp_path / "q", x, y, max_bytes=10)


def test_the_command_line_writes_an_audit_s_proof(tmp_path, capsys):
    rng = np.random.default_rng(8)
    x = rng.normal(size=40)
    table = write_table(tmp_path / "d.csv", x, 0.7 * x + rng.normal(size=40))
    proof = str(tmp_path / "audit.proof")
    assert cli(["audit", table, "--proof", proof]) == 0
    assert cli(["check", proof, table]) == 0
    assert "or more of 40 rows have a slope below 0 (by 1e-09" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["r2", "cov", "lts"])
def test_a_path_is_proved_size_by_size(objective):
    x, y = np.random.default_rng(10).normal(size=(2, 40))
    found = qs.path(x, y, drop=5, objective=objective, proof=True)
    claims = [part["claim"] for part in found.proof.parts]
    assert [claim["keep"] for claim in claims] == found.k.tolist()
    assert qs.check(found.proof, x, y).proved
    assert qs.path(x, y, drop=1, objective=objective).proof is None
    forged = copy.deepcopy(found.proof.content)
    forged["parts"][3]["claim"]["keep"] -= 2
    forged["parts"][3]["claim"]["subset"] = None
    if objective != "cov":
        assert not qs.check(Proof(forged), x, y).proved


def test_the_command_line_writes_the_proof_of_a_path(tmp_path, capsys):
    x, y = np.random.default_rng(11).normal(size=(2, 14))
    table, proof = write_table(tmp_path / "d.csv", x, y), str(tmp_path / "path.proof")
    assert cli(["path", table, "--drop", "2", "--proof", proof]) == 0
    assert cli(["check", proof, table]) == 0
    assert "no 13 of 14 rows have r2 above" in capsys.readouterr().out


def test_the_report_page_links_the_proof_when_asked_for_one(tmp_path):
    x, y = np.random.default_rng(9).normal(size=(2, 14))
    table, page = write_table(tmp_path / "d.csv", x, y), tmp_path / "page.html"
    asked = ["report", table, "-o", str(page), "--drop", "2", "--permutations", "0"]
    assert cli([*asked, "--proof", str(tmp_path / "d.proof")]) == 0
    assert "<a href='d.proof'>" in page.read_text()
    assert cli(["check", str(tmp_path / "d.proof"), table]) == 0
    assert cli(asked) == 0
    assert "d.proof" not in page.read_text().replace("--proof", "")


@pytest.mark.slow
def test_ignoring_rounding_proves_what_is_not_true():
    """Values that tie but for the last digits, ten million and more away from the origin."""
    refused = 0
    for number in (101, 437):
        x, y, k, objective = rounding_proofs.tied(np.random.default_rng([0, number]))
        asked = rounding_proofs.statement(x, y, k, objective)
        it = fuzz_proofs.Instance(number, "tied", x, y, k, objective, False)
        how = {"list_up_to": 0, "enumerate_up_to": 1, "slack": False}
        assert fuzz_proofs.verdict(it, write(asked, **how)) is None
        wrong = fuzz_proofs.verdict(it, write(asked, **how, rounding=False))
        refused += wrong is not None and "the bound is negative" in wrong
    assert refused >= 1
