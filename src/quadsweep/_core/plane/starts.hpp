// Good subsets to begin with: concentration steps from random lines on a sample of the points, the
// best of each kind carried on over all points.
#pragma once

#include "incumbents.hpp"
#include "placement.hpp"
#include "shared/control.hpp"

namespace quadsweep {

// Places the points about the most promising start and offers what the starts lead to.
void offer_starts(const Problem& problem, const CertifiedOptions& options, Control& control,
                  Placement& placement, Incumbents& known);

// Moments of good subsets of k of the points, which are a sample: one of each kind, best first.
std::vector<Moments> promising_moments(const Cells& cells, Objective objective, int k,
                                       std::uint64_t seed, int n_jobs);

}  // namespace quadsweep
