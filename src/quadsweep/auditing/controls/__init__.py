"""A regression as the user gives it, and what serves any number of controls.

``reading``     formulas, fitted models and arrays become a design
``many_controls_form``  lower bounds for any number of controls, by branching on rows
``proofs``      from a condition to the forms that ``many_controls_form`` bounds
``heuristics``  good removals: influence, greedy, concentration
``row_tests``   such tests without each single row, by updates of the fit
``stated``      what a fitted model says itself, which its library fits again
``robust``      tests with robust and clustered standard errors

Imports design, moments, conditions and break_problem of auditing, and inputs. What is found is
re-checked.
"""
