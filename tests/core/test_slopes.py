"""Few of many points: what a scan of slopes leaves holds every better subset's own line."""

from itertools import combinations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import _core_parts

TURN = 1.75  # flat lines up to this slope, steep ones beyond


def uniform(rng):
    return rng.uniform(-1, 1, (2, 16))


def heavy_tails(rng):
    return rng.standard_t(2, (2, 16))


def whole_numbers(rng):
    return rng.integers(-4, 5, (2, 16)).astype(float)


def clusters(rng):
    """Cells of eight points that are smaller than a bin."""
    return np.repeat(rng.uniform(-1, 1, (2, 2)), 8, axis=1) + 1e-3 * rng.normal(size=(2, 16))


def line_and_noise(rng):
    x = rng.uniform(-1, 1, 16)
    y = rng.choice([-3.0, -0.5, 0.7, 2.5]) * x + 0.05 * rng.normal(size=16)
    y[:6] = rng.uniform(-1, 1, 6)
    return np.array([x, y])


FAMILIES = (uniform, heavy_tails, whole_numbers, clusters, line_and_noise)


def subsets(x, y, k):
    """Mean and centred sums of every k points."""
    rows = np.array(list(combinations(range(len(x)), k)))
    u, w = x[rows], y[rows]
    mx, my = u.mean(1), w.mean(1)
    u, w = u - mx[:, None], w - my[:, None]
    return mx, my, (u * u).sum(1), (w * w).sum(1), (u * w).sum(1)


def scores(objective, a, b, c):
    with np.errstate(all="ignore"):
        if objective == "lts":
            return -(b - c * c / a)
        r = c / np.sqrt(a * b)
        return r * r if objective == "r2" else r


def own_lines(objective, mx, my, a, b, c):
    """A subset's line in the frame that has it: which, p1 and p2."""
    if objective == "lts":
        slope = c / a
        if abs(slope) <= TURN:
            return 0, slope, my - slope * mx
        return (1 if slope > 0 else 2), 1 / slope, mx - my / slope
    sign = 1 if c > 0 else -1
    tau, first = np.sqrt(b / a), 0 if c > 0 else 2
    if tau <= TURN:
        return first, tau, sign * my - tau * mx
    return first + 1, 1 / tau, mx - sign * my / tau


def inside(line, boxes):
    frame, p1, p2 = line
    return any(
        f == frame and lo1 - 1e-12 <= p1 <= hi1 + 1e-12 and lo2 - 1e-12 <= p2 <= hi2 + 1e-12
        for f, lo1, hi1, lo2, hi2 in boxes
    )


def area(boxes):
    return sum((hi1 - lo1) * (hi2 - lo2) for _, lo1, hi1, lo2, hi2 in boxes)


@pytest.mark.parametrize("objective", ["r2", "r", "lts"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_better_subset_has_its_line_in_what_is_left(family, objective):
    k, least, most, better = 4, np.inf, 0.0, 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        x, y = family(rng)
        x, y = x - x.mean(), y - y.mean()
        mx, my, a, b, c = subsets(x, y, k)
        value = scores(objective, a, b, c)
        usable = np.flatnonzero((a > 1e-9) & (b > 1e-9) & np.isfinite(value))
        if objective == "lts":  # a fit that is exact leaves nothing to be less than
            usable = usable[value[usable] < -1e-9]
        order = usable[np.argsort(-value[usable])]
        rank = rng.integers(1, 40)
        score = value[order[rank]]
        if objective != "lts" and not (1e-6 < score < 1 - 1e-9):
            continue
        # The wider the residuals, the coarser the scan: bins hold cells, too.
        spread = k * np.array([np.var(x), np.var(y)])
        sums = (*spread, rng.choice([0.99, 0.9, 0.7]) * np.sqrt(spread.prod()))
        boxes = _core_parts.scanned(x, y, k, objective, score, sums)
        for i in order[:rank]:
            if value[i] <= score + 1e-12 * abs(score):
                continue
            better += 1
            assert inside(own_lines(objective, mx[i], my[i], a[i], b[i], c[i]), boxes), seed
        least, most = min(least, area(boxes)), max(most, area(boxes))
    assert better > 20
    assert least < most / 2  # not everything was left


@pytest.mark.parametrize("objective", ["r2", "r", "lts"])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6])
def test_a_line_that_the_scan_itself_finds_ends_it(objective, noise):
    """Nothing can fit better than the points on it, so there are no ranges to scan."""
    n, k = 6000, 300
    rng = np.random.default_rng(1)
    x, y = rng.integers(-1000, 1000, n).astype(float), 1000 * rng.normal(size=n)
    y[:k] = 3 * x[:k] + 2 + noise * rng.normal(size=k)
    found = qs.solve(x, y, k, objective=objective)
    assert found.status == "optimal"
    assert found.slope == pytest.approx(3, abs=1e-6)
    assert np.sum(found.inliers < k) > k - 3  # others may lie on it
