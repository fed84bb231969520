// The parameters (box.hpp) that subsets of k or more points can have at all.
#pragma once

#include "box.hpp"
#include "engine/cells.hpp"

namespace quadsweep::ellipse {

// Of any k or more of the values: ends of their mean and of their standard deviation.
struct Spread {
    double mean_lo, mean_hi, least, most;
};
Spread spread_of(const std::vector<double>& values, const std::vector<int>& weights, int k);

struct Ranges {
    Spread x, y;

    // False where rounding leaves nothing of the least spread.
    bool valid() const { return y.least > 0 && std::isfinite(y.most) && std::isfinite(x.most); }
    // Ends of l and Y.
    bool contract_spread(Box& box) const;
    // Together they hold the parameters of every subset.
    std::vector<Box> roots() const;
    // A slope of x on y, times the spread of y, is no more than the spread of x, and the intercept
    // is the mean of x less the slope times that of y. False if nothing is left of the box.
    bool contract(Box& box) const;
};
Ranges ranges(const Cells& cells, int k);

// The same of those subsets that keep what is decided and `need` of some other values, from their
// extremes: cheap, and coarser.
Spread spread_of(const std::vector<double>& values, const std::vector<double>& weights, int need,
                 double kept, double kept_sum, double kept_squares);

}  // namespace quadsweep::ellipse
