// Branch and bound on items: one is removed, or kept for good (search/driver.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "question.hpp"
#include "shared/control.hpp"

namespace quadsweep::scores {

struct Options {
    int m = 1;
    double most_nodes = infinity;
    int n_jobs = 1;
    double memory = infinity;  // bytes
};

struct Verdict {
    bool proved = false;                 // no removal of up to m items does it, but for `near`
    std::vector<int> removal;            // does it, in floating point; or empty
    std::vector<std::vector<int>> near;  // removals that rounding leaves open
    std::int64_t nodes = 0;
    int free = 0;  // items that the root leaves
};

Verdict decide(const Question& question, const Options& options, Control& control);

}  // namespace quadsweep::scores
