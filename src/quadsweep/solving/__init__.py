"""One question to one answer: validation, then a method, then a `Result`; and many at once.

Imports inputs, methods and results. Every other question (choosing, auditing, comparing) is posed
here too.
"""
