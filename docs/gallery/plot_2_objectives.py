"""
One scatter, six questions
==========================

What is kept depends on what is asked: a line (R², least trimmed squares), a cluster (total
variance), a window (variance of x), a direction (covariance, difference of variances). The boundary
is a conic of a kind that goes with the question.
"""

import matplotlib.pyplot as plt
import numpy as np

import quadsweep as qs

x, y = np.random.default_rng(3).normal(size=(2, 24))
figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
for ax, objective in zip(axes.flat, ["r2", "lts", "tv", "var", "cov", "dv"], strict=True):
    qs.solve(x, y, k=16, objective=objective).plot(ax=ax)
