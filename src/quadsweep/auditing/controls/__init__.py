"""How few rows carry a coefficient of a multiple regression.

``reading``     formulas, fitted models and arrays become a design
``classes``     dummies of a partition, fitted exactly whichever rows go
``remaining``   lower bounds for any number of controls, by branching on rows
``proofs``      from a condition to the forms that ``remaining`` bounds
``proposals``   good removals: influence, greedy, concentration
``robust``      tests with robust and clustered standard errors
``report``      the answer as an Audit
``proving``     the proof file of the lower bound
``approximations``  the usual ones, to compare with
``range``       how far m removals can move the coefficient

Imports the rest of auditing and inputs. Everything that is found is re-checked.
"""
