"""Choosing k and distrusting the answer: paths, noise, stability, all pairs of a table.

Imports solving and all below it. Never draws; the pictures are in `plotting`.
"""
