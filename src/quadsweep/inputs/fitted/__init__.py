"""Fitted models of other libraries, which answer for themselves: the library fits them again.

``protocol``   what a model answers, and when two answers agree

May import ``inputs/`` and what is below it. Never computes an estimate or a standard error.
"""
