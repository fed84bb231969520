// Branch and bound over leaves of a partition most of which are sealed.
//
// A box that only sealed cells keep open is parked, and the leaves whose rows would decide it are
// asked for. Where no row is loaded yet, the score to be beaten is an estimate, with cells that the
// threshold cuts counted in part: such a search finds out which leaves to load and proves no more
// than that nothing passes the estimate. The answer is `optimal` only if its subset is real and no
// box is parked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "assembly.hpp"
#include "shared/control.hpp"

namespace quadsweep::streamed {

struct Question {
    Objective objective = Objective::r2;
    std::int64_t k = 0;
    double tol = 1e-9;
    int n_jobs = 1;
    double memory = infinity;     // bytes, of the boxes that wait
    double most_rows = infinity;  // that may be asked for; beyond, the search ends
    double gap_x = 0, gap_y = 0;  // see outer_ranges
    double tilt = 0;              // the slope of the line that the points are placed on, placed
};

struct Found {
    bool real = false;                 // the subset below exists; else its score is an estimate
    std::vector<std::int32_t> leaves;  // kept whole
    std::vector<std::int64_t> rows;    // positions among the loaded ones
    std::vector<std::pair<std::int32_t, std::int64_t>> copies;  // of a leaf that is one point
    Moments moments;                                            // of the subset
    double score = undefined, bound = infinity;                 // in placed coordinates
    Status status = Status::heuristic;
    std::uint64_t nodes = 0;
    std::vector<std::int32_t> wanted;  // leaves to load
};

// `starts`: moments of good subsets, for one point.
Found search(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
             const Question& question, const std::vector<Moments>& starts, Control& control);

// Where to place the points, and where to start, by a sample as given.
struct Plan {
    Placing at;
    std::vector<Moments> starts;
};
Plan plan(std::span<const double> x, std::span<const double> y, Objective objective, double share,
          std::uint64_t seed, int n_jobs);

}  // namespace quadsweep::streamed
