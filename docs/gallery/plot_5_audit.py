"""
Two stars carry the sign
========================

Least squares says that hotter stars of this cluster are fainter. Two stars of 47 carry that.
"""

import quadsweep as qs

stars = qs.datasets.load("stars-cyg")
audit = qs.audit(stars.x, stars.y, claim="sign")
print(audit.summary())
audit.plot()
