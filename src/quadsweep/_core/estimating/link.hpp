// The sign of the coefficient of x in a logistic or Poisson regression.
//
// The log-likelihood is concave, so the coefficient has the sign of the score of x at the fit
// without it: with eta = offset + z . g, where sum z (y - m(eta)) = 0, that of sum x (y - m). The
// costs are
//
//     sign (x - lambda . z) (y - m(eta)),
//
// in which m is replaced by its tangent and what it misses at most, |m''| (z . d)^2 / 2: for logit,
// |m''| <= 0.0962250449, attained where eta is +-1.3169578969, and less away from there.
#pragma once

#include <memory>
#include <vector>

#include "equations.hpp"
#include "likelihood.hpp"

namespace quadsweep::estimating {

// Rows in the order of their items.
struct LinkTest {
    Link link = Link::logit;
    int rows = 0, controls = 0;
    std::vector<std::vector<double>> z;  // the intercept among them
    std::vector<double> x, y, weight, offset;
    // What the rounding of each entry is relative to; of the offset in the last column.
    std::vector<std::vector<double>> z_size;
    std::vector<double> x_size, offset_size;
    std::vector<int> item_first;
    int sign = 1;  // of the coefficient on all rows: the claim breaks where it is the other
};

std::unique_ptr<Equations> link_equations(const LinkTest& test);

}  // namespace quadsweep::estimating
