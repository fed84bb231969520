"""The normal equations in the checker: sums at a subset's own plane, and the sign of theta_Y."""

from __future__ import annotations

import copy
from fractions import Fraction

import naive_several
import numpy as np
import pytest

from quadsweep.proofs import checker


def part(objective, k, threshold, placement, **more):
    asked = {"objective": objective, "keep": k, "or_more": objective == "cov", "sign": 1, "beta": 0,
             "threshold": threshold, "margin": None, "subset": None, "tol": None}  # fmt: skip
    return {"claim": asked, "placement": placement, **more}


def as_given(columns):
    matrix = [[0.0] * j + [1.0] for j in range(columns)]
    return {"shift": [0.0] * columns, "matrix": matrix}


def own_plane(fitted, y, rng):
    """Exact coefficients of 1 and the fitted columns that solve the normal equations: any of those,
    where there are many."""
    rows = [[Fraction(1), *row] for row in fitted]
    size = len(rows[0])
    m = [[sum(r[i] * r[j] for r in rows) for j in range(size)] for i in range(size)]
    right = [sum(r[i] * v for r, v in zip(rows, y, strict=True)) for i in range(size)]
    solved = [None] * size
    free = [Fraction(int(v)) for v in rng.integers(-3, 4, size)]
    pivots = []
    for j in range(size):
        i = next((i for i in range(size) if i not in pivots and m[i][j] != 0), None)
        solved[j] = i
        if i is None:
            continue
        pivots.append(i)
        for other in range(size):
            if other != i:
                by = m[other][j] / m[i][j]
                m[other] = [u - by * v for u, v in zip(m[other], m[i], strict=True)]
                right[other] -= by * right[i]
    some = [j for j in range(size) if solved[j] is None]
    return [
        free[j] if i is None else (right[i] - sum(m[i][o] * free[o] for o in some)) / m[i][j]
        for j, i in enumerate(solved)
    ], len(some)


def total(corner, rows):
    products, base = corner
    return base + sum(
        checker.dot(f, row) * checker.dot(g, row) for f, g in products for row in rows
    )


@pytest.mark.parametrize("objective", ["lts", "r2", "cov"])
def test_at_its_own_plane_a_subset_has_the_sum_stated(objective):
    """Whatever the multipliers, in every frame; with dummies and constant columns, of which any
    coefficients are a subset's own; and the costs are affine."""
    rng, deficient, signs = np.random.default_rng(8), 0, set()
    for _ in range(60):
        n, p = 9, 3
        x = rng.integers(-2, 3, (n, p)).astype(float)
        x[:, 0] = rng.permutation(n) < 2
        y = rng.integers(-5, 6, n).astype(float)
        matrix = [[float(v) for v in rng.integers(-2, 3, j)] + [2.0**-j] for j in range(p + 1)]
        if objective == "cov":
            matrix[-1][-2] = 0.0
        placement = {"shift": [0.5, -1.0, 2.0, 1.0], "matrix": matrix}
        t = {"lts": 3.0, "r2": 0.25, "cov": 0.5}[objective]
        columns = [*x.T.tolist(), y.tolist()]
        claim = checker.StatedClaim(part(objective, 4, t, placement), columns)
        some = np.argsort(x[:, 0] + rng.random(n) * rng.integers(1, 3))  # often without the ones
        some = some[: int(rng.integers(4, n + 1))].tolist()
        placed = [[Fraction(v, 1 << claim.unit) for v in column] for column in claim.columns]
        rows = [[Fraction(1), *(column[i] for column in placed)] for i in some]
        count = p - (objective == "cov")  # fitted; then Y comes
        (q0, *q), free = own_plane([r[1 : count + 1] for r in rows], [r[count + 1] for r in rows],
                                   rng)  # fmt: skip
        deficient += free > 0
        theta = [*(-v for v in q), Fraction(1)]
        w = int(rng.choice([j for j, v in enumerate(theta) if v != 0]))
        slopes = [-v / theta[w] for j, v in enumerate(theta) if j != w]
        signs.add((w < count, theta[w] > 0))
        box = [(v, v * int(rng.integers(2, 5))) for v in slopes]
        box.append((q0 / theta[w], q0 / theta[w] + 1))
        multipliers = [Fraction(int(v), 4) for v in rng.integers(-20, 21, count + 1)]
        if objective == "r2":
            multipliers.append(sum(r[-1] for r in rows) / len(rows))
        criterion = checker.Criterion(claim)
        corners = [*criterion.costs(w, box, multipliers)]
        of_y, design = 1 / abs(theta[w]), [[1.0, *x[i]] for i in some]
        if objective == "cov":
            controls = [row[:-1] for row in design]
            c = naive_several.partial_sums(x[some, -1].tolist(), y[some].tolist(), controls)[2]
            expected = of_y * (len(some) * claim.t - c * claim.scale)
        else:
            of_plane = naive_several.rss(design, y[some].tolist())
            if objective == "lts":
                expected = of_y * (of_plane * claim.scale - claim.t)
            else:
                of_mean = naive_several.rss([[1.0]] * len(some), y[some].tolist())
                scale = Fraction(matrix[-1][-1]) ** 2
                expected = of_y * scale * (of_plane - (1 - claim.t) * of_mean)
        assert total(corners[0], rows) == expected
        middle = [((u + v) / 2, (u + v) / 2) for u, v in box]
        (in_middle, *_) = criterion.costs(w, middle, multipliers)
        for row in rows:
            each = [total(corner, [row]) for corner in corners]
            assert total(in_middle, [row]) == sum(each) / len(each)
        if objective == "r2":
            multipliers[-1] += 1
            assert total(next(criterion.costs(w, box, multipliers)), rows) < expected
    assert deficient > 20
    assert len(signs) == 3


def test_a_box_in_which_the_coefficient_of_y_has_both_signs_is_not_closed():
    """The sum that is negative for the one is positive for the other. All rows have a positive
    coefficient of x; the only root that holds their plane is closed by multipliers."""
    z = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 0.0])
    x = np.array([1.0, -1.0, -1.0, 0.0, 0.0, 1.0])
    y = 4 * z + 0.25 * x
    rows, k = [z.tolist(), x.tolist(), y.tolist()], len(z)
    covariance = float(x @ (y - 4 * z) - x.sum() * (y - 4 * z).mean())
    assert covariance > 0

    def through(column, value):
        """nu with sum l = 0 and sum l times the column = value, for l = nu (1, z) - x."""
        design = np.column_stack([np.ones(k), z])
        sums = np.array([np.ones(k), column]) @ design
        return np.linalg.solve(sums, [x.sum(), value + column @ x]).tolist()

    zeros, away = [0.0] * 4, [-10.0, 10.0]
    roots = [{"frame": 0, "box": [[-1.0, 1.0], away],
              "nodes": [["bound", through(y, 0.0), zeros]]},
             {"frame": 1, "box": [[-1.0, 1.0], away],
              "nodes": [["bound", through(z, covariance), zeros]]}]  # fmt: skip
    content = {"format": checker.FORMAT, "version": checker.VERSION,
               "data": checker.describe_data(rows),
               "parts": [part("cov", k, 0.0, as_given(3), roots=roots)]}  # fmt: skip
    with pytest.raises(checker.Refuted, match=r"node 1 .*both signs"):
        checker.Checker(content).check(*rows)
    other = copy.deepcopy(content)
    other["parts"][0]["roots"][0]["nodes"] = [["list", [], []]]
    with pytest.raises(checker.Refuted, match="a subset listed is better"):
        checker.Checker(other).check(*rows)
    other["parts"][0]["roots"].pop(0)
    with pytest.raises(checker.Refuted, match="leave out frame 0"):
        checker.Checker(other).check(*rows)
