// Good subsets to begin with: concentration steps from random lines on a sample of the points, the
// best of them carried on over all points.
#pragma once

#include <cstdint>
#include <vector>

#include "cells.hpp"
#include "selection.hpp"

namespace quadsweep {

struct Wanted {
    std::size_t most;  // subsets
    bool sampled;      // from a sample: one of each kind is enough, and its score only a hint
};

// Moments of good subsets (scaled to k points), best first, in the coordinates of `cells`.
std::vector<Moments> promising(const Cells& cells, Objective objective, int k, int starts,
                               std::uint64_t seed, int n_jobs, const Wanted& wanted);

// Every step-th point, as points of their own.
Points sample(const Points& points, int most, std::uint64_t seed);

}  // namespace quadsweep
