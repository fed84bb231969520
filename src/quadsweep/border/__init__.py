"""The border: what users hand in becomes clean arrays, or one sentence says what is wrong with it.

Imports only what everyone shares (`objectives`). Nothing in here solves, and nothing past it checks
again.
"""
