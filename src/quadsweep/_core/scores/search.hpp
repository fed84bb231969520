// Branch and bound on items: each branch removes an item or keeps it for good (search/driver.hpp).
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
    bool proved = false;  // no removal of up to m items breaks the claim, except perhaps `near`
    std::vector<int> removal;            // breaks it in floating point; or empty
    std::vector<std::vector<int>> near;  // removals too close to call in floating point
    std::int64_t nodes = 0;
    int free = 0;  // items still free after the root's bound
};

Verdict decide(const Question& question, const Options& options, Control& control);

}  // namespace quadsweep::scores
