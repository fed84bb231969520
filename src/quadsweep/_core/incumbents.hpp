// Good subsets to begin with: concentration steps from random lines on a sample of the points, the
// best of them carried on over all points.
#pragma once

#include <cstdint>
#include <vector>

#include "cells.hpp"
#include "selection.hpp"

namespace quadsweep {

// Moments of good subsets (scaled to k points), best first, in the coordinates of `cells`.
std::vector<Moments> promising(const Cells& cells, Objective objective, int k, int starts,
                               std::uint64_t seed, int n_jobs);

// Every step-th point, as points of their own.
Points sample(const Points& points, int most, std::uint64_t seed);

}  // namespace quadsweep
