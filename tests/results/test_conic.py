"""Conics: names, centres, coefficients, and curves that are whole."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

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


def test_to_dict_holds_plain_values():
    plain = Conic((1, 0, 1, 0, 0, -4)).to_dict()
    assert plain == {"kind": "circle", "coefficients": [1, 0, 1, 0, 0, -4], "center": [0, 0]}
    assert Conic((0, 0, 0, 1, 2, 3)).to_dict()["center"] is None
