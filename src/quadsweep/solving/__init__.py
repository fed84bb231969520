"""One question to one answer: the border, then a method, then a `Result`; and many at once.

Imports border, methods and answers. Every other question (choosing, auditing, comparing) comes in
by this door.
"""
