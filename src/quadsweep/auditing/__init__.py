"""How few rows carry a conclusion.

``audit``      the question: the fewest rows whose removal breaks a claim
``influence``  the question: how far m removals can move slope, r and R2
``rows``       the rows both are about, and how many may go
``claims``     the claims by name, each a set of sides
``sides``      the ways in which claims break, as conditions on a subset
``exact``      does this subset break the claim? decided in rational arithmetic
``fit``        line, correlation and t test of a set of rows
``spread``     how little a column can vary on k of its points
``decisions``  does any subset? decided by the certified engine
``least``      the fewest removals, from above by good subsets and from below by proofs
``in_passes``  the same of rows that are not in memory
``proving``    the proof file of the lower bound
``verdict``    what every audit says
``baselines``  the usual approximations, to compare with
``extremes``   the ends of the influence curve
``design``     the regression: term, controls, weights, what is removed at once
``moments``    a, b, c of a subset given the controls, in floating point and exactly
``conditions`` the ways in which a claim about a coefficient breaks
``exact_tests`` the t statistic of a coefficient in rational arithmetic
``term_test``  the t test of a coefficient on any rows, for the compiled half
``case``       one condition on one design: is it broken, and which rows are in its way?
``oracles``    do m removals suffice, and which? one for each kind of case
``fewest``     the fewest removals: good ones from above, what oracles prove from below
``resources``  time, memory and threads of an audit, and whether to go on
``controls``   all of this for a coefficient of a multiple regression

Imports solving, passes, methods and the border. Every claim about rows in memory is re-checked in
rational arithmetic. Nothing in here draws.
"""
