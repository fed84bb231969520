"""Conics: names, centres, coefficients, and curves that are whole."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import KDTree

from quadsweep import Conic

KINDS = {
    "circle": (1, 0, 1, 0, 0, -1),
    "ellipse": (1, 0.5, 2, 0, 0, -1),
    "hyperbola": (1, 3, -1, 0.2, 0.1, -0.3),
    "parabola": (1, 2, 1, 1, -1, 0),
    "line": (0, 0, 0, 1, 2, 0.5),
    "line pair": (1, 0, -1, 0, 0, 0),
    "point": (1, 0, 1, 0, 0, 0),
    "empty": (1, 0, 1, 0, 0, 1),
}


def turned(local, angle, shift=(0.0, 0.0)):
    """The conic turned by an angle, then moved."""
    a, b, c, d, e, f = local
    ca, sa = math.cos(angle), math.sin(angle)
    quadratic = np.array([[a, b / 2], [b / 2, c]])
    turn = np.array([[ca, sa], [-sa, ca]])
    quadratic = turn.T @ quadratic @ turn
    linear = turn.T @ np.array([d, e])
    s = np.array(shift)
    moved = linear - 2 * quadratic @ s
    constant = f - linear @ s + s @ quadratic @ s
    return (quadratic[0, 0], 2 * quadratic[0, 1], quadratic[1, 1], *moved, constant)


@pytest.mark.parametrize("kind", KINDS)
def test_names_its_kind(kind):
    assert Conic(KINDS[kind]).kind == kind


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "circle"])
def test_keeps_its_kind_when_turned(kind):
    for angle in np.linspace(0.1, 3.0, 7):
        assert Conic(turned(KINDS[kind], angle)).kind == kind, angle


@pytest.mark.parametrize(
    ("local", "kind"),
    [
        ((1, 0, 0, 0, 0, -1), "line pair"),
        ((1, 0, 0, 0, 0, 1), "empty"),
        ((1, 0, 0, 0, 0, 0), "line"),
        ((0, 0, 0, 0, 0, 1), "empty"),
        ((1, 2, 1, 0, 0, -4), "line pair"),
        ((0, 1, 0, 0, 0, -1), "hyperbola"),
        ((0, 0, 1, -1, 0, 0), "parabola"),
    ],
)
def test_names_degenerate_kinds(local, kind):
    assert Conic(local).kind == kind


def test_a_circle_in_local_units_that_differ_is_an_ellipse_and_the_other_way_round():
    assert Conic((1, 0, 1, 0, 0, -1), scale=(1, 2)).kind == "ellipse"
    assert Conic((1, 0, 4, 0, 0, -1), scale=(1, 2)).kind == "circle"


def test_centre_is_where_the_gradient_vanishes():
    conic = Conic(turned((1, 0.3, 2, 0, 0, -1), 0.7, (3, -2)), origin=(10, 20), scale=(2, 0.5))
    np.testing.assert_allclose(conic.center, (10 + 2 * 3, 20 - 0.5 * 2))


@pytest.mark.parametrize("local", [(1, 2, 1, 1, -1, 0), (0, 0, 0, 1, 2, 3), (1, 0, 0, 0, 0, -1)])
def test_parabola_line_and_parallel_lines_have_no_centre(local):
    assert Conic(local).center is None


def test_coefficients_agree_with_the_call_in_exact_arithmetic():
    conic = Conic((1.0, -2.0, 0.5, 3.0, -1.0, 4.0), origin=(8.0, -16.0), scale=(2.0, 4.0))
    A, B, C, D, E, F = (Fraction(v) for v in conic.coefficients)
    for x, y in itertools.product([-3, 0, 5], [-7, 1, 2]):
        exact = A * x * x + B * x * y + C * y * y + D * x + E * y + F
        assert exact == Fraction(float(conic(x, y)))


def test_about_is_the_same_curve_in_other_units():
    seed = 3
    rng = np.random.default_rng(seed)
    for _ in range(50):
        conic = Conic(tuple(rng.normal(size=6)), tuple(rng.normal(size=2)), (0.5, 3.0))
        moved = conic.change_coordinates(tuple(rng.normal(size=2)), (2.0, 0.1))
        x, y = rng.normal(size=(2, 20))
        np.testing.assert_allclose(conic(x, y), moved(x, y), rtol=1e-9, atol=1e-9)


def test_separates_wants_every_point_strictly_on_its_side():
    circle = Conic((-1, 0, -1, 0, 0, 1))
    assert circle.separates([0, 0.5, 2], [0, 0, 0], [True, True, False])
    assert not circle.separates([0, 0.5, 2], [0, 0, 0], [True, False, False])
    assert not circle.separates([0, 1, 2], [0, 0, 0], [True, True, False])


def window_points(conic, xlim, ylim, cells=160):
    """Points of the curve found without tracing: sign changes along the lines of a fine grid."""
    xs, ys = np.linspace(*xlim, cells), np.linspace(*ylim, cells)
    values = conic(xs[:, None], ys[None, :])
    found = []
    for i, j in zip(*np.nonzero(values[1:] * values[:-1] < 0), strict=True):
        t = values[i, j] / (values[i, j] - values[i + 1, j])
        found.append((xs[i] + t * (xs[i + 1] - xs[i]), ys[j]))
    for i, j in zip(*np.nonzero(values[:, 1:] * values[:, :-1] < 0), strict=True):
        t = values[i, j] / (values[i, j] - values[i, j + 1])
        found.append((xs[i], ys[j] + t * (ys[j + 1] - ys[j])))
    return np.array(found).reshape(-1, 2)


def assert_whole(conic, xlim=(-2.0, 2.0), ylim=(-2.0, 2.0), note=""):
    """Every traced point is on the curve, steps are short, and every point of the curve is near."""
    size = np.array([xlim[1] - xlim[0], ylim[1] - ylim[0]])
    pieces = conic.curve(xlim, ylim)
    expected = window_points(conic, xlim, ylim)
    if not pieces:
        assert len(expected) == 0, note
        return pieces
    points = np.vstack(pieces)
    seen = conic.change_coordinates((np.mean(xlim), np.mean(ylim)), tuple(size / 2)).local
    residual = conic(points[:, 0], points[:, 1]) / max(abs(v) for v in seen)
    assert np.max(np.abs(residual)) < 1e-9, note
    assert np.all(points >= np.array([xlim[0], ylim[0]]) - 1e-9 * size), note
    assert np.all(points <= np.array([xlim[1], ylim[1]]) + 1e-9 * size), note
    for piece in pieces:
        steps = np.abs(np.diff(piece, axis=0) / size)
        assert np.max(steps, initial=0) < 0.006, note
    away, _ = KDTree(points / size).query(expected / size, p=np.inf)
    assert np.max(away, initial=0) < 0.006, note
    return pieces


def ends(pieces):
    """How many ends of pieces there are besides closed curves."""
    return sum(2 for p in pieces if np.max(np.abs(p[0] - p[-1])) > 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_curve_is_on_the_conic_and_has_no_gaps(kind):
    for angle in np.linspace(0.0, math.pi, 13):
        for shift in ((0.0, 0.0), (0.7, -0.4), (1.9, 1.9)):
            conic = Conic(turned(KINDS[kind], angle, shift))
            assert_whole(conic, note=(kind, angle, shift))


def test_an_ellipse_within_the_window_is_one_closed_curve():
    for angle in np.linspace(0, math.pi, 25):
        pieces = Conic(turned((1, 0.0, 9, 0, 0, -1), angle, (0.3, 0.2))).curve((-2, 2), (-2, 2))
        assert len(pieces) == 1
        assert ends(pieces) == 0, angle


def test_a_hyperbola_across_the_window_is_two_curves_that_end_at_its_edge():
    pieces = Conic(turned((1, 0, -1, 0, 0, -0.1), 0.4)).curve((-2, 2), (-2, 2))
    assert len(pieces) == 2
    for piece in pieces:
        for end in (piece[0], piece[-1]):
            assert math.isclose(np.max(np.abs(end)), 2.0, rel_tol=1e-9)


def test_random_conics_are_traced_whole():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        conic = Conic(tuple(rng.normal(size=6)), tuple(rng.normal(size=2)), (1.0, 2.0))
        assert_whole(conic, (-3, 3), (-2, 5), note=f"seed {seed}")


def test_a_thin_ellipse_far_from_the_origin_is_traced_whole():
    conic = Conic((1.0, -1.999, 1.0, 0.0, 0.0, -0.01), origin=(1e9, -1e9), scale=(1.0, 1.0))
    pieces = conic.curve((1e9 - 10, 1e9 + 10), (-1e9 - 10, -1e9 + 10))
    assert len(pieces) == 1
    assert ends(pieces) == 0


def test_to_dict_holds_plain_values():
    plain = Conic((1, 0, 1, 0, 0, -4)).to_dict()
    assert plain == {"kind": "circle", "coefficients": [1, 0, 1, 0, 0, -4], "center": [0, 0]}
    assert Conic((0, 0, 0, 1, 2, 3)).to_dict()["center"] is None
