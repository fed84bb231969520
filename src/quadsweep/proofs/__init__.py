"""Proofs that anyone can check: the writer, the file, and the checker.

``checker.py`` imports nothing of the package and runs by itself; ``writer.py`` asks the compiled
core for the tree of a proof. Never decides what the answer is.
"""
