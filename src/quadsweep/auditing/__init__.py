"""What :func:`quadsweep.audit` is made of.

``exact``      does this subset break the claim? decided in rational arithmetic
``spread``     how little a column can vary on k of its points
``decisions``  does any subset? decided by the certified engine
``sides``      the claims, as conditions on a subset
``least``      the fewest removals, from above by good subsets and from below by proofs
``baselines``  the usual approximations, to compare with
``curve``      how far m removals can move slope, r and R2
"""
