"""Do two convex hulls of lifted points meet? By floating point (distance) and exactly (exact)."""
