"""Choosing k and assessing the answer: paths, noise, stability, all pairs of a table.

``path``          the best subset of every size, with suggestions for k; its searches, here or on
                  a cluster (``walk``); compared with shuffled data or clean lines
                  (``path_significance``, ``clean_line``)
``significance``  a p-value that allows for the choosing
``stability``     who is dropped when the data change a little
``intervals``     the bootstrap of the line, behind `Result.bootstrap`
``pairwise``      every pair of columns
``nulls``         null data, their optima, p-values and their words: what all tests share

Imports solving and all below it. Never draws; the pictures are in `plotting`.
"""
