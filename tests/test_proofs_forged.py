"""What a forger would try: no false claim is accepted, and any file gets a verdict."""

from __future__ import annotations

import copy
import functools
import gzip
import json
import math

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, write

KINDS = ("r2", "r", "negative r", "cov", "dv", "tv", "lts", "plane r2", "plane lts", "audit")


@functools.cache
def proved(kind: str) -> tuple[dict, list[list[float]]]:
    """A proof by boxes, and the columns it is about."""
    rng = np.random.default_rng(11)
    x, noise = rng.normal(size=(2, 50 if kind == "audit" else 16))
    y = 0.6 * x + 0.7 * noise
    if kind == "audit":
        proof = qs.audit(x, y, proof=True).proof
        return json.loads(gzip.decompress(proof.to_bytes())), [x.tolist(), y.tolist()]
    objective = kind.split()[-1]
    if kind.startswith("plane"):
        x = np.column_stack([x, rng.normal(size=16)])
    elif kind == "negative r":
        y = 0.1 * noise - x
    best = qs.solve(x, y, 13, objective=objective)
    asked = Statement(x, y, 13, objective, best.bound, best.inliers.tolist(), best.value)
    proof = write(asked, list_up_to=0, enumerate_up_to=3)
    content = json.loads(gzip.decompress(proof.to_bytes()))
    return content, [*np.atleast_2d(x.T).tolist(), y.tolist()]


def forge(kind: str) -> tuple[dict, list[list[float]]]:
    content, columns = proved(kind)
    return copy.deepcopy(content), columns


def verdict(content: dict, columns: list[list[float]]) -> str:
    """Why it is not accepted; any other exception is a failure."""
    with pytest.raises((checker.Refuted, checker.Unreadable)) as why:
        checker.Checker(content).check(*columns)
    return str(why.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forged_here_was_valid(kind):
    content, columns = forge(kind)
    checker.Checker(content).check(*columns)


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_a_false_threshold_is_refused_whatever_rho(kind):
    content, columns = forge(kind)
    claim = content["claim"]
    claim["subset"] = None
    claim["threshold"] += (1 if kind.split()[-1] in ("tv", "lts") else -1) * 1e-4
    for rho in (0.5, 0.9, 1.0, 1.5, 10.0, 1e9):
        content["criterion"]["rho"] = rho
        assert verdict(content, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_every_root_is_needed(kind):
    content, _ = proved(kind)
    for i in range(len(content["roots"])):
        forged, columns = forge(kind)
        del forged["roots"][i]
        assert "leave out" in verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_may_not_be_narrowed(kind):
    content, _ = proved(kind)
    for i, root in enumerate(content["roots"]):
        for j in range(len(root["box"])):
            forged, columns = forge(kind)
            ends = forged["roots"][i]["box"]
            ends[j] = (ends[j] + ends[j ^ 1]) / 2
            assert "leave" in verdict(forged, columns), (i, j)


@pytest.mark.parametrize("kind", ["r2", "r", "lts", "plane r2", "plane lts"])
def test_frames_may_not_be_exchanged(kind):
    """Another axis or another sign of y."""
    content, _ = proved(kind)
    names = [root["frame"] for root in content["roots"]]
    for i, name in enumerate(names):
        for other in {*names, "y-", "x1-", "means", "all", "x9", ""} - {name}:
            forged, columns = forge(kind)
            forged["roots"][i]["frame"] = other
            assert verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_must_be_whole(kind):
    nodes = proved(kind)[0]["roots"][0]["nodes"]
    for at in range(len(nodes)):
        forged, columns = forge(kind)
        del forged["roots"][0]["nodes"][at:]
        assert "ends before" in verdict(forged, columns)
    forged, columns = forge(kind)
    forged["roots"][0]["nodes"].append(["list"])
    assert "goes on" in verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_no_box_is_closed_by_saying_so(kind):
    for node in (["bound", []], ["bound", [0.0] * 20], ["bound"], [], "bound", ["done"], None, 7,
                 ["split", 9], ["split", 0], ["split", True], ["copies", 99, 0], ["copies", 0, -1],
                 ["copies", 0], ["split", 1, 2, []], {"bound": []}):  # fmt: skip
        forged, columns = forge(kind)
        forged["roots"][0]["nodes"] = [node]
        assert verdict(forged, columns)


def test_a_deep_tree_that_never_closes_is_refused():
    forged, columns = forge("r2")
    forged["roots"][0]["nodes"] = [["split", 1]] * 1500
    assert "ends before" in verdict(forged, columns)


NOT_NUMBERS = (math.nan, math.inf, -math.inf, 10**400, -(10**400), True, None, "0.5", [], {}, [[0]])


@pytest.mark.parametrize("bad", NOT_NUMBERS, ids=lambda v: repr(v)[:6])
def test_what_is_no_number_is_refused_everywhere(bad):
    def put(content, path):
        home = content
        for key in path[:-1]:
            home = home[key]
        home[path[-1]] = bad

    places = [
        ("claim", "threshold"), ("claim", "tol"), ("claim", "keep"), ("claim", "subset", 0),
        ("placement", "shift", 0), ("placement", "scale", 0), ("placement", "tilt", 0),
        ("placement", "mix", 0, 0), ("criterion", "rho"), ("roots", 0, "box", 0),
        ("roots", 0, "frame"), ("roots", 0, "nodes"), ("roots",), ("data", "rows"), ("predictors",),
        ("version",), ("claim", "or_more"), ("claim", "sign"), ("claim", "beta"),
        ("claim", "margin"), ("parts",),
    ]  # fmt: skip
    for path in places:
        # These are what the file may say.
        if bad is True and path[-1] in ("or_more", "version", "predictors"):
            continue
        forged, columns = forge("r2")
        put(forged, path)
        assert verdict(forged, columns), path


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, 10**400, True, None, "0", []], ids=lambda v: repr(v)[:6]
)
def test_hints_are_numbers(bad):
    for kind in KINDS:
        content, _ = proved(kind)
        nodes = content["roots"][0]["nodes"]
        at = next(i for i, node in enumerate(nodes) if isinstance(node[-1], list))
        for j in range(len(nodes[at][-1])):
            forged, columns = forge(kind)
            forged["roots"][0]["nodes"][at][-1][j] = bad
            assert verdict(forged, columns)


def test_the_subset_is_one_of_the_size_claimed():
    content, _ = proved("r2")
    rows = content["claim"]["subset"]
    out = sorted(set(range(16)) - set(rows))
    for subset in (
        [], rows[:-1], [*rows, out[0]], [rows[1], *rows[1:]], [-1, *rows[1:]], [16, *rows[1:]],
        [float(r) for r in rows], [False, *rows[1:]], [out[0], *rows[1:]], "all", {"0": 1}, 13,
    ):  # fmt: skip
        forged, columns = forge("r2")
        forged["claim"]["subset"] = subset
        assert verdict(forged, columns), subset


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_the_tolerance_is_what_the_subset_needs(kind):
    forged, columns = forge(kind)
    forged["claim"]["tol"] = -forged["claim"]["tol"]
    assert "further from the threshold" in verdict(forged, columns)


def test_fewer_rows_are_another_claim():
    for kind in KINDS[:-1]:
        if kind.split()[-1] in ("cov", "dv"):
            continue  # more rows dropped need not be better: held against all subsets elsewhere
        forged, columns = forge(kind)
        forged["claim"] |= {"keep": 9, "subset": None}
        assert verdict(forged, columns), kind


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("audit", {"sign": 0}),
        ("audit", {"sign": 1}),
        ("audit", {"or_more": False}),
        ("audit", {"objective": "r"}),
        ("audit", {"objective": "dv"}),
        ("audit", {"margin": -1.0}),
        ("audit", {"margin": 0.0}),
        ("audit", {"threshold": -1e-3}),
        ("audit", {"beta": 5.0}),
        ("plane r2", {"sign": -1}),
        ("plane r2", {"beta": 0.5}),
        ("plane r2", {"objective": "r"}),
        ("plane lts", {"objective": "tv"}),
        ("lts", {"objective": "var"}),
        ("r2", {"objective": "r2 "}),
        ("r2", {"objective": None}),
    ],
)
def test_a_claim_of_another_kind_needs_a_proof_of_its_own(kind, change):
    forged, columns = forge(kind)
    forged["claim"] |= change
    assert verdict(forged, columns)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("r2", {"tilt": [0.5]}),
        ("cov", {"tilt": [0.5]}),
        ("cov", {"mix": [[2.0]]}),
        ("lts", {"mix": [[0.0]]}),
        ("tv", {"scale": [0, 1]}),
        ("dv", {"scale": [1, 0]}),
        ("lts", {"scale": [0]}),
        ("lts", {"scale": [0, 4001]}),
        ("tv", {"shift": [0.0, 0.0, 0.0]}),
        ("plane lts", {"mix": [[1.0], [1.0, 0.0]]}),
        ("plane lts", {"mix": [[1.0], [1.0]]}),
        ("plane r2", {"mix": [[1.0, 0.0], [0.0, 1.0]]}),
    ],
)
def test_a_placement_that_changes_the_claim_is_refused(kind, change):
    forged, columns = forge(kind)
    forged["placement"] |= change
    assert verdict(forged, columns)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("r2", {"rho": 0.0}),
        ("r2", {"rho": -0.5}),
        ("r2", {"rho": 3.0}),
        ("r", {"rho": 1e-9}),
        ("negative r", {"rho": 1.0}),
        ("negative r", {"rho": 0.5}),
        ("negative r", {"rho": -3.0}),
        ("plane r2", {"rho": 0.0}),
        ("cov", {"balance": 0.0}),
        ("dv", {"balance": -1.0}),
    ],
)
def test_a_criterion_that_shows_less_is_refused(kind, change):
    forged, columns = forge(kind)
    forged["criterion"] |= change
    assert verdict(forged, columns)


def test_tau_is_positive():
    content, columns = forge("negative r")
    for node in content["roots"][0]["nodes"]:
        if isinstance(node[-1], list):
            node[-1][2] = -node[-1][2]
    assert "tau" in verdict(content, columns)


def test_larger_subsets_are_not_shown_by_negative_lambdas():
    content, columns = forge("tv")
    content["claim"]["or_more"] = True
    for node in content["roots"][0]["nodes"]:
        if isinstance(node[-1], list):
            node[-1][:] = [-abs(v) for v in node[-1]]
    assert verdict(content, columns)


def test_parts_are_some_and_each_is_checked():
    content, columns = forge("r2")
    shared = {key: content[key] for key in ("format", "version", "predictors", "data")}
    part = {key: content[key] for key in ("claim", "placement", "criterion", "roots")}
    checker.Checker(shared | {"parts": [part, part]}).check(*columns)
    assert verdict(shared | {"parts": []}, columns)
    assert verdict(content | {"parts": [part]}, columns)
    false = copy.deepcopy(part)
    del false["roots"][1]
    assert verdict(shared | {"parts": [part, false]}, columns)


def test_files_that_are_none_are_said_to_be_none(tmp_path):
    content, columns = forge("r2")
    good = gzip.compress(json.dumps(content).encode())
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 0xFF
    for bad in (b"", good[: len(good) // 2], bytes(damaged), b"[" * 100_000, b"[1]", b"\xff\xfe",
                b'{"claim": 1' + b"0" * 5000 + b"}", good[:1], b"\x1f\x8b"):  # fmt: skip
        (tmp_path / "p").write_bytes(bad)
        with pytest.raises(ValueError, match="not a proof"):
            qs.check(tmp_path / "p", *columns)
