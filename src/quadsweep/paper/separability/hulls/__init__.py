"""Do two convex hulls of lifted points meet? By floating point (distance) and exactly (exact).

Imports the lifts; the quadratic program of `distance` when it runs. Never looks at an objective.
"""
