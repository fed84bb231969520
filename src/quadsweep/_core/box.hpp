// A box of the search: a rectangle of parameters, and what is already decided for all subsets whose
// own parameters lie in it.
#pragma once

#include <memory>
#include <vector>

#include "objectives.hpp"

namespace quadsweep {

// Copies of points that must be kept in every box below.
struct Decided {
    struct Copies {
        int point, count;
    };
    std::vector<int> cells;
    std::vector<Copies> points;
    std::shared_ptr<const Decided> before;
};

// What is still open: whole cells, and points of which between 0 and `copies` more may be kept.
struct Undecided {
    std::vector<int> cell, point, copies;

    std::size_t items() const { return cell.size() + point.size(); }
};

struct Box {
    int frame = 0;              // which of the criterion's parametrisations
    double centre[2], half[2];  // of the two searched parameters
    double multiplier[4] = {};  // the criterion's free multipliers, a guess from the parent
    double lambda = 0;          // threshold of the parent's centre
    double upper = infinity;    // no subset of the box scores more
    double priority = 0;

    Undecided open;
    int need = 0;       // points still to be kept
    double kept = 0;    // copies decided
    Moments moments;    // of the decided copies
    int additions = 0;  // roundings in those moments
    std::shared_ptr<const Decided> decided;
};

}  // namespace quadsweep
