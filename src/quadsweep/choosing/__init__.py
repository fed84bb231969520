"""Choosing k and assessing the answer: paths, noise, stability, all pairs of a table.

``path``          the best subset of every size, with suggestions for k; its searches, here or on
                  a cluster (``walk``); over shuffled data (``path_significance``) or a clean
                  line (``line_significance``); suggestions for k (``curve``)
``significance``  a p-value that allows for the choosing
``stability``     who is dropped when the data change a little
``intervals``     the bootstrap of the line, behind `Result.bootstrap`
``pairwise``      every pair of columns
``shuffles``, ``clean_line``: null data. ``p_values``: what they are called, and corrections.

Imports solving and all below it. Never draws; the pictures are in `plotting`.
"""
