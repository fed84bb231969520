// What the criteria need to know of the data before the search.
#pragma once

#include "cells.hpp"

namespace quadsweep {

// Over all subsets of k points, the range of the means and of the centred sums of squares a and b.
struct Ranges {
    int k;
    double x_lo, x_hi, y_lo, y_hi;
    double a_least, b_least;
    double a_least_positive, b_least_positive;  // of those that are not zero
    double a_most, b_most;
};

Ranges ranges(const Cells& cells, int k, int n_jobs);

}  // namespace quadsweep
