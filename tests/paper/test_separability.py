"""separate(): the quadratic program, the exact decision, and a checker that shares no code."""

import builtins
import json
from fractions import Fraction

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.paper.separability.hulls import exact
from quadsweep.paper.separability.hulls.nearest import OutOfTime, nearest_to_origin
from quadsweep.paper.separability.separate import hull_distance
from quadsweep.rational import solved

LIFTS = ("L2", "L3c", "L3d", "L3t", "L4", "L5")
MONOMIALS = {
    "L2": lambda x, y: (x * x, x),
    "L3c": lambda x, y: (x * y, x, y),
    "L3d": lambda x, y: (x * x - y * y, x, y),
    "L3t": lambda x, y: (x * x + y * y, x, y),
    "L4": lambda x, y: (x * x, y * y, x, y),
    "L5": lambda x, y: (x * x, x * y, y * y, x, y),
}


def certificate_holds(found):
    """The independent checker: points as rationals, one sign each, or two equal means."""
    x, y = [Fraction(float(v)) for v in found.x], [Fraction(float(v)) for v in found.y]
    if found.separable:
        points, (a, b, c, d, e, f) = zip(x, y, strict=True), found.plane
        shape = {"L2": (b, c, e), "L3c": (a, c), "L3d": (a + c, b), "L3t": (a - c, b), "L4": (b,)}
        side = [a * u * u + b * u * v + c * v * v + d * u + e * v + f for u, v in points]
        signs = all((s > 0) if m else (s < 0) for s, m in zip(side, found.mask, strict=True))
        return signs and not any(shape.get(found.lift, ()))
    lifted = {i: MONOMIALS[found.lift](x[i], y[i]) for i in found.weights}
    sides = [{i: w for i, w in found.weights.items() if found.mask[i] == m} for m in (True, False)]
    means = [[sum(w * lifted[i][j] for i, w in s.items()) for j in range(len(z))] for s in sides
             for z in [next(iter(lifted.values()))]]  # fmt: skip
    one = all(sum(s.values()) == 1 and min(s.values()) > 0 for s in sides)
    return one and means[0] == means[1]


def checked(x, y, inliers, lift):
    found = qs.separate(x, y, inliers, lift=lift)
    assert found.exact
    assert certificate_holds(found)
    assert (found.plane is None) == bool(found.weights)
    assert len(found.weights) <= len(MONOMIALS[lift](1, 1)) + 2
    return found


def random_instance(rng):
    n = int(rng.integers(6, 31))
    shape = rng.integers(5)
    if shape == 0:
        x, y = rng.random((2, n))
    elif shape == 1:
        x, y = rng.normal(size=(2, n)) * [[1e3], [1e-2]]
    elif shape == 2:
        x, y = rng.standard_t(1.5, size=(2, n))
    elif shape == 3:
        x, y = rng.integers(0, 5, size=(2, n)).astype(float)
    else:
        angle = rng.random(n) * 2 * np.pi
        x, y = np.cos(angle), np.sin(angle)
    k = int(rng.integers(1, n))
    score = rng.random(n)
    if rng.random() < 0.6:  # cut off by a conic, nearly
        score = np.column_stack([x * x, x * y, y * y, x, y]) @ rng.normal(size=5)
    mask = np.zeros(n, dtype=bool)
    mask[np.argsort(score)[:k]] = True
    if rng.random() < 0.3:
        i, j = rng.choice(np.flatnonzero(mask)), rng.choice(np.flatnonzero(~mask))
        mask[i], mask[j] = False, True
    return x, y, mask


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_exact_decision_agrees_with_the_program_above_its_resolution(block):
    rng = np.random.default_rng(block)
    separable = decided = 0
    for trial in range(200):
        x, y, mask = random_instance(rng)
        lift = LIFTS[rng.integers(len(LIFTS))]
        found = checked(x, y, mask, lift)
        lifted = np.array(MONOMIALS[lift](x, y))
        size = np.abs(lifted - lifted.mean(axis=1, keepdims=True)).max() ** 2
        separable += found.separable
        assert found.dual <= found.primal + 1e-12 * size, f"block {block} trial {trial}"
        if found.dual > 1e-10 * size:
            decided += 1
            assert found.separable, f"block {block} trial {trial} {lift}"
        if not found.separable:
            assert found.primal <= 1e-10 * size, f"block {block} trial {trial} {lift}"
    assert 40 < separable < 160
    assert decided > separable / 2


@pytest.mark.parametrize("lift", LIFTS)
def test_duplicates_on_both_sides_are_the_certificate(lift):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 12))
    x[9], y[9] = x[2], y[2]
    found = checked(x, y, range(6), lift)
    assert found.separable is False
    assert found.weights == {2: 1, 9: 1}
    assert found.distance2 == 0


def test_duplicates_on_one_side_do_not_matter():
    x = np.array([0, 0, 0, 1, 1, 5, 5, 6, 6.0])
    y = np.array([0, 0, 0, 1, 1, 5, 5, 7, 7.0])
    assert checked(x, y, range(5), "L5").separable


@pytest.mark.parametrize(("dx", "dy"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (3.0, -0.125)])
def test_collinear_points_are_cut_by_at_most_two_places(dx, dy):
    t = np.arange(10.0)
    x, y = 5 + dx * t, -3 + dy * t
    middle = np.isin(t, [3, 4, 5])
    assert checked(x, y, middle, "L5").separable
    alternate = np.isin(t, [1, 4, 5, 8])
    found = checked(x, y, alternate, "L5")
    assert found.separable is False
    assert len(found.weights) == 4


def test_points_on_one_parabola_allow_four_changes_and_no_more():
    x = np.arange(-5.0, 6.0)
    signs = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1], dtype=bool)
    assert checked(x, x**2, signs, "L5").separable
    signs[-1] = False
    assert checked(x, x**2, signs, "L5").separable is False


def test_points_on_one_circle_allow_two_arcs_and_no_more():
    quarter = [(65, 0), (63, 16), (60, 25), (56, 33), (52, 39), (39, 52), (33, 56), (25, 60)]
    x, y = np.array(quarter + [(-b, a) for a, b in quarter] + [(-a, -b) for a, b in quarter]).T
    assert set(x * x + y * y) == {65 * 65}
    place = np.arange(len(x))
    two, three = place // 6 % 2 == 0, place // 4 % 2 == 0
    assert checked(x, y, two, "L5").separable
    assert checked(x, y, three, "L5").separable is False
    assert checked(x, y, two, "L3t").separable is False
    assert checked(x, y, place < 11, "L3t").separable


@pytest.mark.parametrize("lift", LIFTS)
@pytest.mark.parametrize("k", [1, 2])
def test_one_or_two_points_on_a_side(lift, k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        x, y = rng.normal(size=(2, 7))
        few = rng.permutation(7)[:k]
        first = checked(x, y, few, lift)
        other = checked(x, y, np.setdiff1d(np.arange(7), few), lift)
        assert first.separable == other.separable
    assert checked([0.0, 1.0], [2.0, 2.0], [0], lift).separable


def test_thin_gaps_are_decided_where_doubles_cannot():
    rng = np.random.default_rng(3)
    x = rng.normal(size=12)
    y = x * x + np.where(np.arange(12) % 2 == 0, 0.0, 2.0**-40)
    found = checked(x, y, np.arange(12) % 2 == 1, "L5")
    assert found.separable
    assert found.primal < 1e-10
    y = x * x
    y[0] = np.nextafter(y[0], 9)
    assert checked(x, y, [0], "L5").separable


def test_far_from_the_origin_and_badly_scaled():
    rng = np.random.default_rng(8)
    u, w = rng.normal(size=(2, 15))
    inside = u * u + u * w + w * w < 1
    for x, y in ((u + 1e9, w - 1e8), (u * 1e150, w * 1e-150), (u * 1e-300, w), (u, w * 1e200)):
        assert checked(x, y, inside, "L5").separable


def test_several_thousand_points():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 3000))
    inside = x * x - x * y + y * y < 1
    found = checked(x, y, inside, "L5")
    assert found.separable
    assert found.conic.separates(x, y, inside)
    inside[int(np.argmin(x * x + y * y))] = False
    assert checked(x, y, inside, "L5").separable is False


def test_without_time_the_exact_decision_is_left_open():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 40))
    found = qs.separate(x, y, range(20), time_limit=0)
    assert found.separable is None
    assert not found.exact
    assert "time ran out" in found.message
    assert found.to_dict()["separable"] is None
    with pytest.raises(OutOfTime):
        nearest_to_origin([(1, 0), (-1, 0)], {}, 0.0)


def test_the_decision_does_not_depend_on_the_proposal(monkeypatch):
    monkeypatch.setattr(exact, "_propose", lambda frame: ([0.0] * len(frame.rows[0]), {}))
    rng = np.random.default_rng(4)
    answers = set()
    for _ in range(40):
        x, y, mask = random_instance(rng)
        answers.add(checked(x, y, mask, "L5").separable)
    assert answers == {True, False}


def test_a_wrong_certificate_is_never_returned():
    x, y, mask = np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([True, False, True])
    good = exact.decide(x, y, mask, "L3c")
    assert exact.weights_coincide(x, y, mask, "L3c", good.weights)
    for bad in ({}, {**good.weights, 0: Fraction(1, 3)}, {0: Fraction(1), 1: Fraction(1)}):
        assert not exact.weights_coincide(x, y, mask, "L3c", bad)
        with pytest.raises(ArithmeticError):
            exact._confirmed(x, y, mask, "L3c", exact.HullDecision(False, None, bad))
    plane = tuple(Fraction(v) for v in (0, 0, 0, 1, 0, 0))  # x = 0 passes through a point
    assert not exact.plane_separates(x, y, mask, plane)


def test_batch_gives_what_single_calls_give():
    rng = np.random.default_rng(6)
    x, y = rng.random((2, 50, 14))
    masks = rng.random((50, 14)) < 0.5
    masks[:, 0], masks[:, 1] = True, False
    for lift in LIFTS:
        batch = hull_distance(x, y, masks, lift)
        for t in range(0, 50, 7):
            single = qs.separate(x[t], y[t], masks[t], lift=lift, exact=False)
            assert single.primal == pytest.approx(batch.primal[t], rel=1e-6, abs=1e-11)
            assert single.separable == batch.separable[t]
        assert np.all(batch.dual <= batch.primal + 1e-12)
        np.testing.assert_allclose((batch.weights * masks).sum(axis=1), 1)
        np.testing.assert_allclose((batch.weights * ~masks).sum(axis=1), 1)


def test_distance_of_two_points_is_their_own():
    found = hull_distance([[1.0, 3.0]], [[2.0, 5.0]], [[True, False]], "L5")
    expected = 8.0**2 + 13.0**2 + 21.0**2 + 2.0**2 + 3.0**2
    assert found.primal[0] == pytest.approx(expected, rel=1e-9)
    assert found.dual[0] == pytest.approx(expected, rel=1e-9)


def test_batch_of_nothing_and_bad_shapes():
    assert hull_distance(np.empty((0, 5)), np.empty((0, 5)), np.empty((0, 5))).primal.shape == (0,)
    with pytest.raises(ValueError, match=r"one shape \(T, n\)"):
        hull_distance(np.ones((2, 5)), np.ones((2, 4)), np.ones((2, 5)))
    with pytest.raises(ValueError, match="one inlier and one outlier"):
        hull_distance(np.ones((2, 5)), np.ones((2, 5)), np.ones((2, 5)))


def test_without_piqp_the_exact_decision_still_works(monkeypatch):
    real = builtins.__import__

    def hidden(name, *args, **kwargs):
        if name == "piqp":
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", hidden)
    found = qs.separate([0, 1, 2, 3, 4], [0, 0, 1, 1, 0], [0, 1, 4])
    assert found.exact
    assert np.isnan(found.primal)
    assert "distance" not in found.summary()
    with pytest.raises(ImportError, match=r"quadsweep\[separability\]"):
        qs.separate([0, 1, 2, 3, 4], [0, 0, 1, 1, 0], [0, 1, 4], exact=False)


def test_summary_and_json_carry_the_certificate():
    apart = qs.separate([0, 1, 2, 3], [0, 1, 0, 5], [0, 1, 2])
    assert "separable:    yes" in apart.summary()
    assert "> 0 on the inliers" in apart.summary()
    meets = qs.separate([0, 1, 2, 3], [0, 0, 0, 0], [0, 2], lift="L2")
    assert "0: 1/4, 2: 3/4" in meets.summary()
    assert "<table>" in meets._repr_html_()
    for found in (apart, meets, qs.separate([0, 1, 2], [0, 0, 0], [1], exact=False, lift="L3c")):
        assert json.loads(json.dumps(found.to_dict()))["lift"] == found.lift
    assert meets.to_dict()["weights"]["0"] == "1/4"


@pytest.mark.parametrize(
    ("inliers", "error", "words"),
    [
        ([], ValueError, "at least one point"),
        ([0, 1, 2, 3], ValueError, "leave at least one outlier"),
        ([0, 4], ValueError, "positions from 0 to 3"),
        ([-1], ValueError, "positions from 0 to 3"),
        ([1, 1], ValueError, "twice"),
        ([True, False], ValueError, "as long as the data"),
        ([0.5], TypeError, "positions or a boolean mask"),
        ("ab", TypeError, "positions or a boolean mask"),
    ],
)
def test_bad_inliers_are_named(inliers, error, words):
    with pytest.raises(error, match=words):
        qs.separate([0, 1, 2, 3], [0, 1, 0, 1], inliers)


def test_unknown_lifts_are_named():
    with pytest.raises(ValueError, match="lift must be"):
        qs.separate([0, 1, 2], [0, 1, 0], [0], lift="L6")


def test_singular_systems_are_refused():
    with pytest.raises(ZeroDivisionError, match="singular"):
        solved([[1, 1, 1], [2, 2, 1]])
