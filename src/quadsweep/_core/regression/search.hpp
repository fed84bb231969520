// Branch and bound over theta (form.hpp): the best subset of a fit, or whether a subset with a
// given partial correlation exists.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/control.hpp"
#include "shared/points.hpp"
#include "table.hpp"

namespace quadsweep::regression {

struct Options {
    int k = 0;
    bool k_or_more = false;  // k or more units
    double tol = 1e-9;       // absolute for R2, relative to the value for lts
    // Only ask whether some subset scores more than this. Always given for a partial correlation.
    std::optional<double> above;
    std::vector<std::vector<int>> starts;  // subsets to start from
    std::uint64_t seed = 0;
    int n_jobs = 1;
    std::int64_t enumeration_limit = 200;  // subsets of a box that are listed rather than split
    int tree_from = 4096;            // distinct rows from which on boxes hold cells (cells.hpp)
    double memory_limit = infinity;  // bytes, of the boxes that wait
    double most_boxes = infinity;    // then the search ends: a limit that no machine changes
};

struct Found {
    std::vector<int> inliers;
    double score = undefined;  // see score_of; of a subset on which time was over, undefined
    double bound = infinity;   // no subset scores more
    Status status = Status::optimal;
    std::uint64_t nodes = 0;
    bool decided = true;  // with `above`: whether the question is answered; inliers empty: "no"
    double n_evaluations = 0;
    // Subsets that may be better, as far as 32 digits tell; `bound` holds for all others. Whoever
    // asked scores them in exact arithmetic.
    std::vector<std::vector<int>> unclear;
};

Found search(const Table& table, const Options& options, Control& control);

}  // namespace quadsweep::regression
