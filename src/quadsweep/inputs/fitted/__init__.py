"""Fitted models of other libraries, which answer for themselves: the library fits them again.

``protocol``   what a model answers, and when two answers agree
``adapter``    what the adapters share: undefined terms, the check on all rows
``from_...``   one adapter a library, the only place that knows its attributes
``adapting``   which adapter fits a model again
``joint``      several terms tested at once

May import ``inputs/`` and what is below it. Never computes an estimate or a standard error.
"""
