"""Several predictors by definition: every subset, in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def sums_of_squares(rows, y, weights=None, intercept=True):
    """Residual and total sum of squares of a weighted least squares fit, exactly.

    Columns are made orthogonal one after the other; one that vanishes adds nothing.
    """
    w = [Fraction(1)] * len(y) if weights is None else [Fraction(v) for v in weights]
    columns = [[Fraction(1)] * len(y)] if intercept else []
    columns += [[Fraction(v) for v in column] for column in zip(*rows, strict=True)]
    left = [Fraction(v) for v in y]

    def product(u, v):
        return sum((a * b * c for a, b, c in zip(u, v, w, strict=True)), Fraction(0))

    total, basis = product(left, left), []
    for j, column in enumerate(columns):
        for other in basis:
            share = product(column, other) / product(other, other)
            column = [a - share * b for a, b in zip(column, other, strict=True)]
        if any(column):
            basis.append(column)
            share = product(left, column) / product(column, column)
            left = [a - share * b for a, b in zip(left, column, strict=True)]
        if j == 0 and intercept:
            total = product(left, left)
    return product(left, left), total


def value(rows, y, objective, weights=None, intercept=True):
    """R2 or RSS of some rows; None where R2 is undefined because y does not vary."""
    rss, tss = sums_of_squares(rows, y, weights, intercept)
    if objective == "lts":
        return rss
    return None if tss == 0 else 1 - rss / tss


def best(X, y, k, objective, weights=None, intercept=True):
    """The best value over all subsets of k rows, and the subsets that have it."""
    sense = 1 if objective == "r2" else -1
    top, subsets = None, []
    for subset in combinations(range(len(y)), k):
        w = None if weights is None else [weights[i] for i in subset]
        found = value([X[i] for i in subset], [y[i] for i in subset], objective, w, intercept)
        if found is None:
            continue
        if top is None or sense * found > sense * top:
            top, subsets = found, []
        if found == top:
            subsets.append(subset)
    return top, subsets
