"""The shipped counterexamples, copies that are none, and the table of the smallest found."""

from dataclasses import replace
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.paper.counterexample_proofs import (
    SHIPPED,
    Counterexample,
    best_two,
    exact_value,
    verify,
)

LIFTED = {
    "L5": lambda u, v: (u * u, u * v, v * v, u, v),
    "L4": lambda u, v: (u * u, v * v, u, v),
    "L3d": lambda u, v: (u * u - v * v, u, v),
    "L3c": lambda u, v: (u * v, u, v),
}
by_name = pytest.mark.parametrize("example", SHIPPED, ids=lambda e: e.name)


@by_name
def test_shipped_counterexamples_are_proved_by_a_text_one_can_follow(example):
    (proof,) = verify([example])
    assert proof.valid
    assert proof.reason == ""
    printed = proof.text
    assert "1. The best subset" in printed
    assert printed.count("The hulls meet") == len(example.lifts)
    for point in example.points:
        assert str(point) in printed
    assert "So it is a counterexample." in printed


@by_name
def test_weights_of_the_proof_give_one_mean_by_another_road(example):
    x, y = np.array(example.points, dtype=float).T
    for lift in example.lifts:
        found = qs.separate(x, y, list(example.inliers), lift=lift)
        rows = LIFTED[lift]
        signed = {i: w if i in example.inliers else -w for i, w in found.weights.items()}
        total = [
            sum(w * c for w, c in zip(signed.values(), column, strict=True))
            for column in zip(*(rows(*example.points[i]) for i in signed), strict=True)
        ]
        assert not any(total)
        assert sum(signed.values()) == 0


def test_every_kind_of_flaw_is_named():
    example = SHIPPED[2]
    other = replace(example, inliers=(0, 1, 2, 3, 4, 6))
    (proof,) = verify([other])
    assert "{0, 1, 2, 3, 4, 6} does not have the best covariance" in proof.reason
    assert "{0, 1, 2, 3, 5, 7} has" in proof.reason
    twins = replace(example, points=(*example.points[:7], example.points[6]))
    (proof,) = verify([replace(twins, inliers=best_two(twins)[0].subset)])
    assert "two subsets share the best" in proof.reason or "cut off" in proof.reason
    (proof,) = verify([replace(example, lifts=("L5",))])
    assert "under L5 the best subset is cut off by the conic" in proof.reason


@pytest.mark.parametrize(
    ("name", "index", "change", "reason"),
    [
        ("nonseparable-r2", 8, (20, 0), "cut off by the conic"),
        ("nonseparable-r2", 2, (0, 60), "does not have the best"),
        ("nonseparable-dv", 6, (0, 3), "cut off by the conic"),
        ("nonseparable-dv", 4, (-9, 0), "does not have the best"),
        ("nonseparable-cov", 6, (0, -2), "cut off by the conic"),
        ("nonseparable-cov", 4, (0, 9), "does not have the best"),
    ],
)
def test_a_tampered_copy_is_rejected_with_the_reason(name, index, change, reason):
    example = next(e for e in SHIPPED if e.name == name)
    points = list(example.points)
    points[index] = (points[index][0] + change[0], points[index][1] + change[1])
    (proof,) = verify([replace(example, points=tuple(points))])
    assert not proof.valid
    assert reason in proof.reason


def test_exact_values_are_those_of_the_package():
    rng = np.random.default_rng(0)
    for _ in range(30):
        points = tuple((int(a), int(b)) for a, b in rng.integers(-9, 10, size=(7, 2)))
        x, y = np.array(points, dtype=float).T
        for name in ("r2", "r", "cov", "dv", "tv", "var", "lts"):
            subset = tuple(sorted(int(i) for i in rng.permutation(7)[:5]))
            exact = exact_value(points, subset, name)
            value = qs.objectives.get(name).value(x[list(subset)], y[list(subset)])
            if exact is None:
                assert np.isnan(value)
            else:
                expected = float(exact)
                if name == "r":
                    expected = np.sign(expected) * np.sqrt(abs(expected))
                assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_best_two_are_the_best_two_by_sorting():
    rng = np.random.default_rng(1)
    for name, sense in (("r2", 1), ("cov", 1), ("tv", -1)):
        points = tuple((int(a), int(b)) for a, b in rng.integers(-99, 100, size=(8, 2)))
        example = Counterexample("x", name, ("L5",), points, (0, 1, 2, 3, 4))
        values = sorted(
            (sense * exact_value(points, s, name) for s in combinations(range(8), 5)), reverse=True
        )
        best, second = best_two(example)
        assert [sense * best.value, sense * second.value] == values[:2]


def test_too_many_subsets_are_refused():
    points = tuple((i, i * i) for i in range(40))
    with pytest.raises(ValueError, match="too many to list"):
        verify([Counterexample("x", "r2", ("L5",), points, tuple(range(20)))])


def test_the_table_of_sizes_is_repeated_from_the_points_alone():
    studies = Path(__file__).parents[2] / "docs/studies"
    spec = spec_from_file_location("sizes", studies / "counterexample_sizes.py")
    sizes = module_from_spec(spec)
    spec.loader.exec_module(sizes)
    text = sizes.FILE.read_text(encoding="utf-8")
    page = (studies / "counterexample-sizes.md").read_text(encoding="utf-8")
    assert page.endswith(sizes.table(sizes.examples(text)).markdown())
    with pytest.raises(ArithmeticError, match="r2-L5-n10-k7 does not verify"):
        sizes.examples(text.replace("[71, -200]", "[71, -300]"))


def test_data_sets_and_proofs_share_their_integers():
    for example in SHIPPED:
        data = qs.datasets.load(example.name)
        assert [(int(u), int(w)) for u, w in zip(data.x, data.y, strict=True)] == list(
            example.points
        )
        assert (data.k, data.objective) == (example.k, example.objective)
        assert Fraction(data.x[0]) == example.points[0][0]
