"""How few rows carry a coefficient of a multiple regression.

``kinds``       is the question about two columns, or about a regression?
``reading``     formulas, fitted models and arrays become a design
``design``      the regression: term, controls, weights, what is removed at once
``moments``     a, b, c of a subset given the controls, in floating point and exactly
``conditions``  the claims, as conditions on those sums
``case``        one condition on one design: is it broken, and which rows are in its way?
``classes``     dummies of a partition, fitted exactly whichever rows go
``remaining``   lower bounds for any number of controls, by branching on rows
``proofs``      from a condition to the forms that ``remaining`` bounds
``certified``   exact answers for a few controls, by the engine's boxes
``listing``     all removals, where they are few
``proposals``   good removals: influence, greedy, concentration
``robust``      standard errors that no proof covers
``least``       the fewest removals, from above and from below
``watch``       one limit on time for all of it
``report``      the answer as an Audit
``proving``     the proof file of the lower bound
``approximations``  the usual ones, to compare with
``range``       how far m removals can move the coefficient

Imports the rest of auditing and the border. Everything that is found is re-checked.
"""
