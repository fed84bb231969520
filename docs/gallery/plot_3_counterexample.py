"""
A best subset that no conic cuts off
====================================

Eleven points. The best eight of them for R² cannot be separated from the other three by any conic,
so a sweep over separable subsets passes them by.
"""

import matplotlib.pyplot as plt

import quadsweep as qs

data = qs.datasets.load("nonseparable-r2")
best = qs.solve(data.x, data.y, data.k)
swept = qs.solve(data.x, data.y, data.k, method="sweep")
print(f"best {best.value:.9f}, swept {swept.value:.9f}")

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
best.plot(ax=axes[0])
swept.plot(ax=axes[1])
