"""Pictures, one a file, named after what they draw.

Imports the results it draws, and matplotlib when it draws. Each function draws on the axes it is
given and solves nothing.
"""
