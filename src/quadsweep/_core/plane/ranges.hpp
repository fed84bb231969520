// What the criteria need to know of the data before the search.
#pragma once

#include <cstdint>

#include "cells.hpp"

namespace quadsweep {

// Over all subsets of k points, the range of the means and of the centred sums of squares a and b.
struct Ranges {
    std::int64_t k;
    double x_lo, x_hi, y_lo, y_hi;
    double a_least, b_least;
    double a_least_positive, b_least_positive;  // of those that are not zero; 0 if not known
    double a_most, b_most;
    bool x_constant;
};

// `cells` are the points, placed there.
Ranges ranges(const Cells& cells, const Points& points, const Placing& at, int k, int n_jobs);

}  // namespace quadsweep
