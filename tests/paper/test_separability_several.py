"""separate() with several predictors: quadrics, against a twin and a checker that share no code."""

import json
from fractions import Fraction
from itertools import product

import naive
import naive_several
import numpy as np
import pytest
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep import lifts
from quadsweep.paper.separability.hulls import exact
from quadsweep.paper.separability.separate import hull_distance

CUBE = np.array(list(product([-1.0, 1.0], repeat=3)))


def checked(X, y, inliers):
    """The answer, its certificate verified from the rows as rationals."""
    found = qs.separate(X, y, inliers)
    points = naive_several.quadratic_lift(np.column_stack([found.x, found.y]).tolist())
    assert found.exact
    assert found.conic is None
    if found.separable:
        *normal, constant = found.plane
        sides = [sum(w * v for w, v in zip(normal, z, strict=True)) + constant for z in points]
        assert all(s > 0 if m else s < 0 for s, m in zip(sides, found.mask, strict=True))
        assert not found.weights
    else:
        both = [{i: w for i, w in found.weights.items() if found.mask[i] == m} for m in (1, 0)]
        assert all(sum(s.values()) == 1 and min(s.values()) > 0 for s in both)
        means = [[sum(w * points[i][j] for i, w in s.items()) for s in both]
                 for j in range(len(points[0]))]  # fmt: skip
        assert all(a == b for a, b in means)
        assert found.plane is None
        assert found.distance2 == 0
    return found


def random_rows(rng, p):
    d = lifts.dimension(lifts.general(p), p)
    n = int(rng.integers(d + 4, 3 * d))
    columns = rng.integers(-3, 4, size=(n, p + 1)).astype(float)
    if rng.random() < 0.3:
        columns[:, 1] = columns[:, 0] * rng.integers(0, 3)
    elif rng.random() < 0.3:
        columns = rng.normal(size=(n, p + 1)).round(2)
    score = rng.random(n)
    if rng.random() < 0.4:  # cut off by a quadric, but for ties
        lift = lifts.get(lifts.general(p), p)
        score = lift(columns[:, :-1], columns[:, -1]) @ rng.normal(size=d)
    mask = np.zeros(n, dtype=bool)
    k = int(rng.integers(n // 3, 1 + 2 * n // 3))
    mask[np.argsort(score, kind="stable")[:k]] = True
    return columns[:, :-1], columns[:, -1], mask


@pytest.mark.parametrize("p", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_decision_is_that_of_a_linear_program_in_fractions(p):
    rng = np.random.default_rng(p)
    answers = []
    for trial in range(24):
        X, y, mask = random_rows(rng, p)
        found = checked(X, y, mask)
        points = naive_several.quadratic_lift(np.column_stack([X, y]).tolist())
        twin = naive.strictly_separable(points, np.flatnonzero(mask).tolist())
        assert found.separable == twin, f"p {p} trial {trial}"
        answers.append(twin)
    assert 4 < sum(answers) < 20


@pytest.mark.parametrize("p", [2, 3, 5])
def test_what_is_inside_a_sphere_is_cut_off_until_its_centre_is_left_out(p):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, p)), rng.normal(size=200)
    inside = (X**2).sum(axis=1) + y**2 < p + 1
    found = checked(X, y, inside)
    assert found.separable
    assert found.lift == lifts.general(p)
    X, y, inside = np.vstack([X, np.zeros(p)]), np.append(y, 0.0), np.append(inside, False)
    assert checked(X, y, inside).separable is False


def test_a_product_of_two_columns_is_a_quadric_and_one_of_three_is_not():
    two = checked(CUBE[:, :2], CUBE[:, 2], CUBE[:, 0] * CUBE[:, 2] > 0)
    assert two.separable
    three = checked(CUBE[:, :2], CUBE[:, 2], CUBE.prod(axis=1) > 0)
    assert three.separable is False
    assert three.weights == dict.fromkeys(range(8), Fraction(1, 4))


def test_duplicates_offsets_and_scales():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    inside = (X**2).sum(axis=1) + y**2 < 2
    for shift, scale in ((1e9, 1.0), (0.0, 1e150), (0.0, 1e-150)):
        assert checked(X * scale + shift, y, inside).separable
    same = [int(np.flatnonzero(inside)[0]), int(np.flatnonzero(~inside)[0])]
    X[same[1]], y[same[1]] = X[same[0]], y[same[0]]
    assert checked(X, y, inside).weights == dict.fromkeys(same, 1)
    y[same[1]] = np.nextafter(y[same[0]], 9)
    assert checked(X, y, inside).weights != dict.fromkeys(same, 1)


def test_one_column_of_a_table_is_a_plane_as_ever():
    x, y = np.random.default_rng(2).normal(size=(2, 20))
    flat, table = (qs.separate(v, y, range(9)) for v in (x, x[:, None]))
    assert flat.lift == table.lift == "L5"
    assert (flat.plane, flat.weights) == (table.plane, table.weights)


def test_a_wrong_certificate_of_a_quadric_is_never_returned():
    X, y, mask = CUBE[:, :2], CUBE[:, 2], CUBE.prod(axis=1) > 0
    weights = dict.fromkeys(range(8), Fraction(1, 4))
    assert exact.weights_coincide(X, y, mask, "L9", weights)
    for bad in ({**weights, 0: Fraction(1, 3)}, {0: Fraction(1), 1: Fraction(1)}):
        with pytest.raises(ArithmeticError):
            exact._confirmed(X, y, mask, "L9", exact.HullDecision(False, None, bad))
    plane = tuple(Fraction(v) for v in (0, 1, 0, 0, 0, 0, 0, 0, 0, 0))  # the sign of x1 x2
    assert exact.plane_separates(X, y, X.prod(axis=1) > 0, plane)
    assert not exact.plane_separates(X, y, mask, plane)
    assert not exact.plane_separates(X * [0, 1], y, X.prod(axis=1) > 0, plane)


def test_frames_names_and_formulas_as_in_solve():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(25, 3)), columns=["a", "b", "c"], index=list("z" * 25))
    mask = (frame**2).sum(axis=1).to_numpy() < 3
    plain = qs.separate(frame[["a", "b"]].to_numpy(), frame["c"].to_numpy(), mask)
    for found in (
        qs.separate(frame[["a", "b"]], frame["c"], mask),
        qs.separate(["a", "b"], "c", mask, data=frame),
        qs.separate("c ~ a + b", inliers=mask, data=frame),
    ):
        assert found.names == ("a", "b", "c")
        assert found.plane == plain.plane
    assert list(found.quadric) == ["a^2", "a*b", "a*c", "b^2", "b*c", "c^2", "a", "b", "c", "1"]
    assert tuple(found.quadric.values()) == found.plane
    assert list(found.to_frame()) == ["a", "b", "c", "inlier", "weight"]


def test_every_coefficient_has_a_name_of_its_own():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(CUBE, columns=["a", "a^2", "1"])
    found = qs.separate(["a", "a^2"], "1", CUBE[:, 0] * CUBE[:, 1] > 0, data=frame)
    assert len(found.quadric) == len(found.plane) == 10
    assert found.terms[-4:] == ("a", "a^2_", "1", "1_")
    odd = pd.DataFrame(CUBE, columns=["inlier", "b", "weight"])
    table = qs.separate(odd[["inlier", "b"]], odd["weight"], [0]).to_frame()
    assert list(table) == ["inlier", "b", "weight", "inlier_", "weight_"]


def test_the_six_ways_of_every_result():
    X, y = CUBE[:, :2], CUBE[:, 2]
    apart, meets = (qs.separate(X, y, v > 0) for v in (X.prod(axis=1), CUBE.prod(axis=1)))
    assert "quadric:" in apart.summary()
    assert "x1*x2" in apart.summary()
    assert "&gt; 0 on the inliers" in apart._repr_html_()
    assert "0: 1/4" in meets.summary()
    for found in (apart, meets, qs.separate(X, y, [0, 3], exact=False)):
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert content["lift"] == "L9"
        assert content["terms"] == list(found.terms)
        assert "L9" in repr(found)
        assert len(found.to_frame()) == 8
        ax = Figure().subplots()
        assert found.plot(ax=ax) is ax
        assert "eparable under L9" in ax.get_title(loc="left")


def test_the_picture_has_the_sides_left_and_right_of_zero():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    inside = (X**2).sum(axis=1) + y**2 < 3
    ax = Figure().subplots()
    qs.separate(X, y, inside).plot(ax=ax)
    right, left = (c.get_offsets()[:, 0] for c in ax.collections if len(c.get_offsets()))
    assert (len(right), len(left)) == (inside.sum(), (~inside).sum())
    assert min(right) > 0 > max(left)
    assert ax.get_xlabel() == "signed root of the quadric"


def test_distances_bracket_and_batches_agree_with_single_calls():
    rng = np.random.default_rng(7)
    x, y = rng.random((10, 16, 2)), rng.random((10, 16))
    masks = rng.random((10, 16)) < 0.5
    masks[:, 0], masks[:, 1] = True, False
    batch = hull_distance(x, y, masks)
    assert np.all(batch.dual <= batch.primal + 1e-12)
    for t in range(10):
        single = qs.separate(x[t], y[t], masks[t], exact=False)
        assert single.primal == pytest.approx(batch.primal[t], rel=1e-6, abs=1e-11)
        if batch.dual[t] > 1e-9:
            assert checked(x[t], y[t], masks[t]).separable
    with pytest.raises(ValueError, match=r"or x \(T, n, p\)"):
        hull_distance(x, y[:, :9], masks)


def test_sentences_where_it_ends():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="with 2 predictors lift must be L9"):
        qs.separate(CUBE[:, :2], CUBE[:, 2], [0], lift="L2")
    with pytest.raises(ValueError, match="8 predictors and y have 54 lifted coordinates"):
        qs.separate(rng.normal(size=(20, 8)), rng.normal(size=20), [0])
    many = np.zeros((120_000, 2))
    with pytest.raises(ValueError, match="120,000 rows; the exact decision goes to"):
        qs.separate(many, many[:, 0], [0])
    with pytest.raises(TypeError, match="positions or a boolean mask"):
        qs.separate(CUBE[:, :2], CUBE[:, 2])
    late = qs.separate(rng.normal(size=(40, 2)), rng.normal(size=40), range(20), time_limit=0)
    assert late.separable is None
    assert "time ran out" in late.message
