// Multipliers for a box: those with the best worst corner among the steps of an ascent.
//
// The ascent is Newton's method at the centre of the box, on
//
//     sum of the k smallest costs, smoothed, + base - sum_j half_j |slope_j|
//
// where slope_j is the derivative of the sum by parameter j. Its last part is what a corner adds to
// first order: without it the maximum may be unbounded, wherever no subset solves the equations at
// the centre, and multipliers that look best there are worthless at the corners.
#pragma once

#include <functional>
#include <vector>

#include "equations.hpp"

namespace quadsweep::estimating {

class Ascent {
  public:
    // try(multipliers) -> the bound of the box; it remembers the best. False from `go_on` ends it.
    using Try = std::function<double(const double*)>;

    explicit Ascent(Equations& equations) : f_(equations) {}

    // `kept` of the open items are chosen, all that are neither open nor out are.
    void climb(const Box& box, int kept, const double* from, const Try& attempt);

  private:
    double value(const Box& box, const double* multiplier, double width);
    void threshold(const Box& box, double width);
    bool newton(const Box& box, double width, double* step);

    Equations& f_;
    int kept_ = 0;
    std::vector<double> cost_, share_;
    std::vector<double> at_open_;  // costs of the open items
    double at_ = 0;                // the threshold
    double slope_[most_dims] = {}, by_[most_dims * most_multipliers] = {};
    double floor_[most_dims] = {};  // where |slope| is rounded off
};

}  // namespace quadsweep::estimating
