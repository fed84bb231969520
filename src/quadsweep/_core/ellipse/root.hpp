// The parameters (box.hpp) that subsets of k or more points can have at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "plane/cells.hpp"

namespace quadsweep::ellipse {

enum Parameter : int { L, S, A, Y };
inline constexpr int parameters = 4;

struct Rectangle {
    double lo[parameters], hi[parameters];

    double half(Parameter p) const { return (hi[p] - lo[p]) / 2; }
    double middle(Parameter p) const { return lo[p] + half(p); }
    double most(Parameter p) const { return std::max(std::fabs(lo[p]), std::fabs(hi[p])); }
};

// Of any k or more of the values: ends of their mean and of their standard deviation.
struct Spread {
    double mean_lo, mean_hi, least, most;
};
Spread spread_of(std::span<const double> values, std::span<const int> weights, int k);

struct Ranges {
    Spread x, y;

    // False where rounding leaves nothing of the least spread.
    bool valid() const { return y.least > 0 && std::isfinite(y.most) && std::isfinite(x.most); }
    // Together they hold the parameters of every subset.
    std::vector<Rectangle> roots() const;
    // A slope of x on y, times the spread of y, is no more than the spread of x, and the intercept
    // is the mean of x less the slope times that of y. False if nothing is left of the box.
    bool contract(Rectangle& box) const;
};
Ranges ranges(const Cells& cells, int k);

// The same of those subsets that keep what is decided and `need` of some other values, from their
// extremes: cheap, and coarser.
Spread spread_of(const std::vector<double>& values, const std::vector<double>& weights, int need,
                 double kept, double kept_sum, double kept_squares);

}  // namespace quadsweep::ellipse
