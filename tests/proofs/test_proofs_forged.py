"""What a forger would try: no false claim is accepted, and any file gets a verdict."""

from __future__ import annotations

import copy
import functools
import gzip
import json
import math
from itertools import product

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, write

BEST = ("r2", "r", "negative r", "cov", "dv", "tv", "lts", "plane r2", "plane lts")
KINDS = (*BEST, "audit", "partial")


@functools.cache
def proved(kind: str) -> tuple[dict, list[list[float]]]:
    """The part of a proof by boxes, and the columns it is about."""
    rng = np.random.default_rng(11)
    x, noise = rng.normal(size=(2, 50 if kind == "audit" else 16))
    y = 0.6 * x + 0.7 * noise
    if kind == "audit":
        proof = qs.audit(x, y, proof=True).proof
        return json.loads(json.dumps(proof.parts[0])), [x.tolist(), y.tolist()]
    if kind == "partial":  # that no 13 rows or more have a negative coefficient of x, given z
        x = np.column_stack([rng.normal(size=16), x])
        asked = Statement(x, y, 13, "cov", 0.0, range(16), 0.0, False, True, -1)
        proof = write(asked, list_up_to=0)
        return json.loads(json.dumps(proof.parts[0])), [*x.T.tolist(), y.tolist()]
    objective = kind.split()[-1]
    if kind.startswith("plane"):
        x = np.column_stack([x, rng.normal(size=16)])
    elif kind == "negative r":
        y = 0.1 * noise - x
    best = qs.solve(x, y, 13, objective=objective)
    asked = Statement(x, y, 13, objective, best.bound, best.inliers.tolist(), best.value)
    proof = write(asked, list_up_to=0, enumerate_up_to=3)
    return json.loads(json.dumps(proof.parts[0])), [*np.atleast_2d(x.T).tolist(), y.tolist()]


def forge(kind: str) -> tuple[dict, list[list[float]]]:
    content, columns = proved(kind)
    return copy.deepcopy(content), columns


def around(part: dict, columns: list[list[float]]) -> dict:
    """The whole of a proof."""
    shared = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "data": checker.describe_data(columns),
    }
    return shared | {"parts": [part]}


def verdict(part: dict, columns: list[list[float]]) -> str:
    return refusal(around(part, columns), columns)


def refusal(content: dict, columns: list[list[float]]) -> str:
    """Why it is not accepted; any other exception is a failure."""
    with pytest.raises((checker.Refuted, ValueError)) as why:
        checker.Checker(content).check(*columns)
    return str(why.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forged_here_was_valid(kind):
    part, columns = forge(kind)
    checker.Checker(around(part, columns)).check(*columns)


@pytest.mark.parametrize("kind", BEST)
def test_a_false_threshold_is_refused(kind):
    for by in (1e-4, 1e-2, 0.3, 1.0, 3.0, 1e9):
        content, columns = forge(kind)
        claim = content["claim"]
        claim["subset"] = None
        claim["threshold"] += (1 if kind.split()[-1] in ("tv", "lts") else -1) * by
        assert verdict(content, columns), by


@pytest.mark.parametrize("kind", KINDS)
def test_every_root_is_needed(kind, monkeypatch):
    content, _ = proved(kind)
    few_steps = functools.partial(checker.Checker, max_steps=2000)
    monkeypatch.setattr(checker, "Checker", few_steps)
    for i in range(len(content["roots"])):
        forged, columns = forge(kind)
        del forged["roots"][i]
        alone = len(content["roots"]) == 1  # then all is to be listed
        assert ("2,000 steps" if alone else "leave out") in verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_may_not_be_narrowed(kind):
    content, _ = proved(kind)
    for i, root in enumerate(content["roots"]):
        for j, end in product(range(len(root["box"])), (0, 1)):
            forged, columns = forge(kind)
            ends = forged["roots"][i]["box"][j]
            ends[end] = (ends[0] + ends[1]) / 2
            assert "leave" in verdict(forged, columns), (i, j, end)


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_has_all_its_parameters_and_no_more(kind):
    for change in (lambda box: box.pop(), lambda box: box.append(box[0]), list.clear):
        forged, columns = forge(kind)
        for root in forged["roots"]:
            change(root["box"])
        assert verdict(forged, columns)


@pytest.mark.parametrize("kind", ["r2", "r", "lts", "plane r2", "plane lts"])
def test_frames_may_not_be_exchanged(kind):
    """Another axis, or the slopes of the other sign."""
    content, _ = proved(kind)
    names = [root["frame"] for root in content["roots"]]
    for i, name in enumerate(names):
        for other in (*names, -1, 9, 1.0, [1], "y", None, True):
            forged, columns = forge(kind)
            forged["roots"][i]["frame"] = other
            assert other is name or verdict(forged, columns)
        forged, columns = forge(kind)
        box = forged["roots"][i]["box"]
        box[0] = [-end for end in box[0]]
        planes = kind.startswith("plane") or (kind == "lts" and name == 1)
        assert planes or "leave out" in verdict(forged, columns)


@pytest.mark.parametrize("kind", ["r2", "negative r", "cov", "lts", "partial"])
def test_ends_in_the_other_order_are_the_same_box(kind):
    """Its corners, and its halves, change places as well: here a tree of one node."""
    part, columns = forge(kind)
    for root in part["roots"]:
        root["box"] = [ends[::-1] for ends in root["box"]]
        root["nodes"] = [["list", [], []]]
    checker.Checker(around(part, columns)).check(*columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_must_be_whole(kind):
    nodes = proved(kind)[0]["roots"][0]["nodes"]
    for at in {*range(0, len(nodes), 1 + len(nodes) // 8), len(nodes) - 1}:
        forged, columns = forge(kind)
        del forged["roots"][0]["nodes"][at:]
        assert "ends before" in verdict(forged, columns)
    forged, columns = forge(kind)
    forged["roots"][0]["nodes"].append(["list", [], []])
    assert "goes on" in verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_no_box_is_closed_by_saying_so(kind):
    no, zeros = ([], []), ([0.0] * 4, [0.0] * 8)
    for node in (["bound", *no], ["bound", *zeros], ["bound", [0.0], [0.0]], ["bound", []], [],
                 "bound", ["done", *no], None, 7, ["split", *no, 9], ["split", *no, 0],
                 ["split", *no, True], ["copies", *no, 99, 0], ["copies", *no, 0, -1],
                 ["copies", *no, 0, 0.5], ["copies", *no, 0], ["split", *no, 1, 2],
                 {"bound": []}, ["list", *no, 1], ["split", None, 1], ["bound", None, None],
                 ["list"], ["bound", *no, 1]):  # fmt: skip
        forged, columns = forge(kind)
        forged["roots"][0]["nodes"] = [node]
        assert verdict(forged, columns)


def test_a_deep_tree_that_never_closes_is_refused():
    forged, columns = forge("r2")
    forged["roots"][0]["nodes"] = [["split", [], [], 1]] * 1500
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
        ("placement", "shift", 0), ("placement", "matrix", 0, 0), ("placement", "matrix"),
        ("roots", 0, "box", 0), ("roots", 0, "box", 0, 1), ("roots", 0, "frame"),
        ("roots", 0, "nodes"), ("roots",), ("claim", "or_more"), ("claim", "sign"),
        ("claim", "beta"), ("claim", "margin"), (),
    ]  # fmt: skip
    around_them = [("data", "rows"), ("data", "predictors"), ("data",), ("version",), ("parts",)]
    for path in [("parts", 0, *inside) for inside in places] + around_them:
        # These are what the file may say.
        if (bad is True and path[-1] in ("or_more", "predictors")) or (
            bad is None and path[-1] == "margin"
        ):
            continue
        forged, columns = forge("r2")
        content = around(forged, columns)
        put(content, path)
        if bad in ([], {}) and path[-1] == "roots":  # then all subsets are listed
            checker.Checker(content).check(*columns)
            continue
        assert refusal(content, columns), path


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, 10**400, True, None, "0", []], ids=lambda v: repr(v)[:6]
)
def test_hints_are_numbers(bad):
    for kind in KINDS:
        content, _ = proved(kind)
        nodes = content["roots"][0]["nodes"]
        at = next(i for i, node in enumerate(nodes) if node[2])
        for which, hints in enumerate(nodes[at][1:3], 1):
            for j in range(len(hints)):
                forged, columns = forge(kind)
                forged["roots"][0]["nodes"][at][which][j] = bad
                assert verdict(forged, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_as_many_hints_as_multipliers_and_corners(kind):
    """One too few or too many would move coefficients to other columns."""
    for which, change in product((1, 2), (list.pop, lambda hints: hints.append(0.0))):
        forged, columns = forge(kind)
        nodes = [node for root in forged["roots"] for node in root["nodes"] if node[2]]
        if which == 1 and change is list.pop and not nodes[0][1]:
            continue
        for node in nodes:
            change(node[which])
        why = verdict(forged, columns)
        assert which == 2 or "multiplier" in why


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


@pytest.mark.parametrize("kind", BEST)
def test_the_tolerance_is_what_the_subset_needs(kind):
    forged, columns = forge(kind)
    forged["claim"]["tol"] = -forged["claim"]["tol"]
    assert "further from the threshold" in verdict(forged, columns)


def test_fewer_rows_are_another_claim():
    for kind in BEST:
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
        ("partial", {"keep": 12}),
        ("partial", {"sign": 1}),
        ("partial", {"sign": 0}),
        ("partial", {"threshold": -1.0}),
        ("partial", {"beta": 1.0}),
        ("partial", {"margin": 1e-9}),
        ("partial", {"subset": list(range(13)), "tol": 1e-3}),
        ("partial", {"or_more": 1}),
        ("partial", {"objective": "r2"}),
        ("partial", {"objective": "dv"}),
        ("partial", {"objective": "partial"}),
        ("plane r2", {"objective": "cov"}),
        ("plane r2", {"beta": 0.5}),
        ("plane lts", {"sign": -1}),
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
        ("r2", {"matrix": [[1.0], [0.5, 1.0]]}),
        ("cov", {"matrix": [[1.0], [0.5, 1.0]]}),
        ("cov", {"matrix": [[-1.0], [0.0, -1.0]]}),
        ("r", {"matrix": [[1.0], [0.0, -1.0]]}),
        ("lts", {"matrix": [[0.0], [0.0, 1.0]]}),
        ("tv", {"matrix": [[1.0], [0.0, 2.0]]}),
        ("dv", {"matrix": [[2.0], [0.0, 1.0]]}),
        ("lts", {"matrix": [[1.0]]}),
        ("lts", {"matrix": [[1.0], [1.0]]}),
        ("tv", {"shift": [0.0, 0.0, 0.0]}),
        ("tv", {"shift": [0.0]}),
        ("plane lts", {"matrix": [[1.0], [1.0, 0.0], [0.0, 0.0, 1.0]]}),
        ("plane lts", {"matrix": [[1.0], [1.0], [0.0, 0.0, 1.0]]}),
        ("partial", {"matrix": [[1.0], [0.0, 1.0], [0.0, 0.5, 1.0]]}),
        ("partial", {"matrix": [[1.0], [0.0, -1.0], [0.0, 0.0, 1.0]]}),
        ("partial", {"matrix": [[1.0], [0.0, 1.0], [0.0, 0.0, 0.0]]}),
        ("plane r2", {"matrix": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}),
    ],
)
def test_a_placement_that_changes_the_claim_is_refused(kind, change):
    forged, columns = forge(kind)
    forged["placement"] |= change
    assert verdict(forged, columns)


def test_a_free_slope_is_positive():
    content, columns = forge("negative r")
    for node in content["roots"][0]["nodes"]:
        if node[1]:
            node[1][1] = -node[1][1]
    assert "positive" in verdict(content, columns)


@pytest.mark.parametrize(
    ("kind", "threshold"), [("r", -1.0), ("negative r", -1.0), ("negative r", -2.0), ("r2", -1e-9)]
)
def test_no_line_is_shown_by_squares_of_the_other_sign(kind, threshold):
    """(1 + t) e^2 - (1 - t) (...)^2 lies above tangents and is concave for -1 < t < 1 alone."""
    content, columns = forge(kind)
    content["claim"] |= {"threshold": threshold, "subset": None}
    assert "no correlation" in verdict(content, columns)


def test_larger_subsets_are_not_shown_by_negative_lambdas():
    content, columns = forge("tv")
    content["claim"]["or_more"] = True
    for node in content["roots"][0]["nodes"]:
        if node[2]:
            node[2] = [-abs(v) for v in node[2]]
    assert verdict(content, columns)


def test_parts_are_some_and_each_is_checked():
    part, columns = forge("r2")
    content = around(part, columns)
    checker.Checker(content | {"parts": [part, part]}).check(*columns)
    assert refusal(content | {"parts": []}, columns)
    false = copy.deepcopy(part)
    del false["roots"][1]
    assert refusal(content | {"parts": [part, false]}, columns)


def test_files_that_are_none_are_said_to_be_none(tmp_path):
    part, columns = forge("r2")
    good = gzip.compress(json.dumps(around(part, columns)).encode())
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 0xFF
    texts = (b"", b"[" * 100_000, b"[1]", b"\xff\xfe", b'{"claim": 1' + b"0" * 5000 + b"}")
    for bad in (b"", good[: len(good) // 2], bytes(damaged), good[:1], b"\x1f\x8b", *texts,
                *map(gzip.compress, texts)):  # fmt: skip
        (tmp_path / "p").write_bytes(bad)
        with pytest.raises(ValueError, match="not a proof"):
            qs.check(tmp_path / "p", *columns)
