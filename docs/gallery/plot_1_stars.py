"""
Four giants among the stars
===========================

In the Hertzsprung-Russell diagram of the cluster CYG OB1 four giant stars turn the least squares
line the wrong way. Among all ways to drop four stars, leaving out these four gives the highest R².
"""

import quadsweep as qs

stars = qs.datasets.load("stars-cyg")
result = qs.solve(stars.x, stars.y, drop=4)
print(result.summary())
result.plot()
