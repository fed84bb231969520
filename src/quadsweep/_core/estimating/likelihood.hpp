// The coefficient of one column of a logistic or Poisson regression, refitted by Newton's method.
//
// With m the mean at the linear predictor, the log-likelihood is concave: the coefficient has the
// sign of the score of x, sum x (y - m), at the fit without x. The z test is b over the root of its
// entry of the inverse of sum m' x x'. A fit that does not settle (separation, as a rule) is
// unclear.
#pragma once

#include <memory>
#include <vector>

#include "removals.hpp"

namespace quadsweep::estimating {

enum class Link { logit, poisson };

struct LikelihoodTest {
    Link link = Link::logit;
    int rows = 0, columns = 0;   // the last column is x
    std::vector<double> design;  // columns of `rows` entries
    std::vector<double> y, weight;
    std::vector<int> first;     // rows of unit i: first[i] .. first[i + 1] - 1
    std::vector<double> start;  // of the fit to all rows
    bool sign_alone = false;    // the score at the fit without x, instead of the test
    double critical = 0;        // of |z| or z; of a sign: of the score's cosine
    int side = 0;               // 0: |z| below it, +1: z above it, -1: -z above it
};

std::unique_ptr<Refits> refits_of(const LikelihoodTest& test);

// The mean and its derivative at a linear predictor.
double mean_of(Link link, double eta);
double slope_of(Link link, double mean);

}  // namespace quadsweep::estimating
