"""Every comparator against its definition, on data where the answer is known or can be counted."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import threading

import numpy as np
import pytest

from quadsweep.paper.compare import COMPARATORS, LineEstimate, fit_subset, r2_of, ransac


def line_with_outliers(seed: int, n: int = 20, bad: int = 6):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = 2 * x + 1 + 0.01 * rng.standard_normal(n)
    y[:bad] = rng.permutation(y[:bad]) + rng.choice([-0.7, 0.7], bad)
    return x, y


def noise(seed: int, n: int = 9):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.random(n)


def plain_biweight(x, y):
    def weighted(values):
        middle = statistics.median(values)
        mad = statistics.median(abs(v - middle) for v in values)
        out = []
        for v in values:
            u = (v - middle) / (9 * mad)
            out.append((v - middle) * (1 - u * u) ** 2 if abs(u) < 1 else 0.0)
        return out

    a, b = weighted(list(x)), weighted(list(y))
    top = sum(p * q for p, q in zip(a, b, strict=True))
    return top / math.sqrt(sum(p * p for p in a)) / math.sqrt(sum(q * q for q in b))


def plain_quadrant(x, y):
    mx, my = statistics.median(x), statistics.median(y)
    total = 0
    for p, q in zip(x, y, strict=True):
        product = (p - mx) * (q - my)
        total += int(product > 0) - int(product < 0)
    return total / len(x)


@pytest.mark.parametrize("name", ["anneal_fair", "lts", "mcd"])
def test_finds_the_line_behind_clear_outliers(name):
    x, y = line_with_outliers(1)
    found = COMPARATORS[name](x, y, 14, seed=0)
    assert not found.subset[:6].any()
    assert found.slope == pytest.approx(2, abs=0.1)
    assert found.intercept == pytest.approx(1, abs=0.1)
    assert found.correlation > 0.99


def test_ransac_leaves_gross_outliers_out_of_its_consensus():
    x = np.arange(20.0)
    y = 2 * x
    y[:4] = 500
    found = ransac(x, y, 5, seed=0)
    assert not found.subset[:4].any()
    assert found.slope == pytest.approx(2)


@pytest.mark.parametrize("seed", range(5))
def test_ransac_is_that_of_scikit_learn_with_its_own_least_squares(seed):
    from sklearn.linear_model import RANSACRegressor

    x, y = noise(seed, n=15)
    model = RANSACRegressor(min_samples=8, max_trials=100, random_state=seed).fit(x[:, None], y)
    found = ransac(x, y, 8, seed=seed)
    assert np.array_equal(found.subset, model.inlier_mask_), seed
    assert found.slope == pytest.approx(model.estimator_.coef_[0]), seed
    assert found.intercept == pytest.approx(model.estimator_.intercept_), seed


def test_ransac_without_a_consensus_says_nothing():
    x = np.array([0.0, 1, 2.5, 3, 4.2])
    y = np.array([0.0, 0, 0, 0, 1])  # the median absolute deviation, its threshold, is 0
    found = ransac(x, y, 5)
    assert found.subset is None
    assert found.slope is None


@pytest.mark.parametrize("name", ["anneal_published", "anneal_fair", "lts", "mcd"])
@pytest.mark.parametrize("seed", range(5))
def test_a_subset_method_keeps_k_points_and_reports_their_line(name, seed):
    x, y = noise(seed, n=12)
    found = COMPARATORS[name](x, y, 7, seed=seed)
    assert found.subset.sum() == 7, seed
    slope, intercept = np.polyfit(x[found.subset], y[found.subset], 1)
    assert found.slope == pytest.approx(slope), seed
    assert found.intercept == pytest.approx(intercept), seed
    assert found.correlation == pytest.approx(
        np.corrcoef(x[found.subset], y[found.subset])[0, 1]
    ), seed
    assert found.correlation**2 == pytest.approx(r2_of(x, y, found.subset)), seed


@pytest.mark.parametrize("seed", range(5))
def test_lts_is_the_least_of_all_subsets(seed):
    x, y = noise(seed)

    def rss(subset):
        i = list(subset)
        return np.polyfit(x[i], y[i], 1, full=True)[1][0]

    least = min(rss(s) for s in itertools.combinations(range(9), 5))
    found = COMPARATORS["lts"](x, y, 5)
    assert rss(np.flatnonzero(found.subset)) == pytest.approx(least), seed


@pytest.mark.parametrize("seed", range(3))
def test_mcd_never_has_a_smaller_determinant_than_the_least_and_mostly_finds_it(seed):
    x, y = noise(seed)

    def determinant(subset):
        i = list(subset)
        return np.linalg.det(np.cov(x[i] / x.std(), y[i] / y.std()))

    least = min(determinant(s) for s in itertools.combinations(range(9), 6))
    found = COMPARATORS["mcd"](x, y, 6, seed=seed)
    assert determinant(np.flatnonzero(found.subset)) == pytest.approx(least, rel=0.5), seed


@pytest.mark.parametrize("name", ["anneal_published", "anneal_fair"])
def test_annealing_finds_the_best_of_few_subsets(name):
    x, y = noise(3, n=8)
    best = max(r2_of(x, y, np.isin(np.arange(8), s)) for s in itertools.combinations(range(8), 4))
    found = COMPARATORS[name](x, y, 4, seed=1)
    assert r2_of(x, y, found.subset) == pytest.approx(best)


def test_annealing_with_all_points_kept_returns_them():
    x, y = noise(4)
    assert COMPARATORS["anneal_fair"](x, y, 9, steps=10).subset.all()


@pytest.mark.parametrize("name", list(COMPARATORS))
def test_the_same_seed_gives_the_same_answer_and_leaves_the_global_generator_alone(name):
    x, y = noise(7, n=15)
    random.seed(5)
    expected = random.random()
    random.seed(5)
    first = COMPARATORS[name](x, y, 8, seed=2**40 + 3)
    assert random.random() == expected
    second = COMPARATORS[name](x, y, 8, seed=2**40 + 3)
    assert repr(first) == repr(second)


def test_annealing_works_outside_the_main_thread_and_is_the_same_there():
    x, y = noise(8, n=15)
    here = COMPARATORS["anneal_fair"](x, y, 8, seed=1)
    there: list[LineEstimate] = []

    def work():
        there.append(COMPARATORS["anneal_fair"](x, y, 8, seed=1))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [repr(e) for e in there] == [repr(here)] * 3


@pytest.mark.parametrize("seed", range(20))
def test_correlations_match_their_definitions(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_cauchy(11)
    y = x + rng.standard_cauchy(11)
    found = {name: COMPARATORS[name](x, y, 6).correlation for name in COMPARATORS}
    assert found["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1]), seed
    ranks = [np.argsort(np.argsort(v)) for v in (x, y)]
    assert found["spearman"] == pytest.approx(np.corrcoef(*ranks)[0, 1]), seed
    pairs = list(itertools.combinations(range(11), 2))
    tau = sum(np.sign((x[i] - x[j]) * (y[i] - y[j])) for i, j in pairs) / len(pairs)
    assert found["kendall"] == pytest.approx(tau), seed
    assert found["quadrant"] == pytest.approx(plain_quadrant(x, y)), seed
    assert found["biweight"] == pytest.approx(plain_biweight(x, y)), seed


def test_theil_sen_has_a_line_and_no_subset():
    x, y = line_with_outliers(2, bad=3)
    found = COMPARATORS["theil_sen"](x, y, 10)
    assert found.subset is None
    assert found.correlation is None
    assert found.slope == pytest.approx(2, abs=1)


def test_what_is_undefined_is_none():
    x = np.arange(6.0)
    flat = np.zeros(6)
    for name in ("pearson", "spearman", "kendall", "quadrant", "biweight", "mcd"):
        assert COMPARATORS[name](x, flat, 4).correlation is None, name
    mostly_tied = np.array([0.0, 0, 0, 0, 1, 2])
    assert COMPARATORS["biweight"](x, mostly_tied, 4).correlation is None
    assert fit_subset(flat, x, np.ones(6, dtype=bool)).slope is None
