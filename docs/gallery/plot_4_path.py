"""
How many to drop
================

The best R² for every number of stars dropped, over the band that shuffled data reach. The step is
at the fourth star: the last of the giants.
"""

import quadsweep as qs

stars = qs.datasets.load("stars-cyg")
path = qs.path(stars.x, stars.y, drop=12, permutations=99)
print(path.summary())
path.plot()
