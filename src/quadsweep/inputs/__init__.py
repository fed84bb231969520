"""What users give becomes clean arrays here, or one sentence says what is wrong with it.

``arguments``        the first arguments of every question, in one order
``frames``           data frames and names become columns; a frame out with the answer
``formulas``         a formula and a frame become columns, or an equation
``fitted``           models of other libraries, which these fit again to some rows
``models``           a fitted model becomes an equation
``equations``        a regression with its fixed effects, instruments, weights, standard errors
``validation``       columns become a sample of clean rows, options numbers
``standard_errors``  which standard errors a test uses, in the words of statsmodels and pyfixest

Imports what everyone shares and knows a built-in data set when it is given one. Nothing in here
solves, and nothing past it checks again.
"""
