"""What an answer is and how it is formatted: result, conic, curve, summary, table.

Imports the inputs and what everyone shares; pictures are asked for by name. Nothing in here solves.
"""
