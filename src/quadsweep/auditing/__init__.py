"""How few observations a conclusion depends on.

``audit``       the question: the fewest rows whose removal breaks a claim
``outofcore``   the same question about rows that are not in memory
``design``      the regression: term, controls, weights, what is removed at once
``classes``     dummies of a partition, fitted by means whichever rows go
``span``        what some columns span: classes, and an orthonormal basis of the others
``moments``     a, b, c of a subset given the controls, in floating point and exactly
``fit``         line, correlation and t test of a set of rows
``confirm``    fits the model as stated again, by another path, before anything is stated
``claims``      the claims by name, as conditions on a subset and in words
``break_problem``  one condition on one design: is it broken, and which rows are in its way? What
                the controls leave, as rows go and return
``exact_tests`` the t statistic of a coefficient in rational arithmetic
``instruments`` an instrumented term: the reduced form and the first stage
``likelihood``  logistic and Poisson regressions
``screening``   which of many removals may break a claim
``repair_overshoot``  from a removal that overshoots to one that breaks the claim
``spread``      how little a column can vary on k of its points
``oracles``     do m removals suffice, and which? one for each kind of problem
``minimal_removal``  the fewest removals: good ones from above, what oracles prove from below
``resources``   time, memory and threads of an audit, and whether to go on
``result``      the results, in figures and in a sentence: of two columns, a regression, out of core
``specification``  the audits of one regression, and their numbers as a table writes them
``tables``      audits of terms, claims and regressions, as one table
``paper_files``  what a paper needs of them: paragraph, table, picture, availability
``reference``   the same audit of clean regressions of the same strength: is that few?
``proving``     the proof file of the lower bound
``approximations``  the usual ones, to compare with
``controls``    reading a regression; bounds and removals for any number of controls

Removals are rows or groups to remove, everywhere in here; the engine is given those to keep.
Imports solving, outofcore, proofs and inputs. Every claim about rows in memory is re-checked in
rational arithmetic. Nothing in here draws.
"""
