"""The border: what users hand in becomes clean arrays, or one sentence says what is wrong with it.

``frames``      data frames and names become columns; a frame out with the answer
``formulas``    a formula and a frame become columns
``validation``  columns become clean arrays, options numbers
``predictors``  the same for several predictors and weights

Imports what everyone shares and knows a built-in data set when it is given one. Nothing in here
solves, and nothing past it checks again.
"""
