"""How few rows carry a coefficient of a multiple regression.

``design``      the regression: term, controls, weights, what is removed at once
``moments``     a, b, c of a subset given the controls, in floating point and exactly
``conditions``  the claims, as conditions on those sums
``classes``     dummies of a partition, fitted exactly whichever rows go
``remaining``   lower bounds for any number of controls, by branching on rows
``certified``   exact answers for a few controls, by the engine's boxes
``proposals``   good removals: influence, greedy, concentration
``robust``      standard errors that no proof covers
``least``       the fewest removals, from above and from below
``report``      the answer as an Audit
``range``       how far m removals can move the coefficient
``reading``     formulas, fitted models and arrays become a design

Imports auditing (claims, fit) and the border. Everything that is found is re-checked.
"""
