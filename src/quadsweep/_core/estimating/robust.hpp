// The t test with heteroskedasticity-robust (HC0, HC1) or clustered standard errors.
//
// With u = x - z . delta, e = y - z . gamma - b x and v = u e (of a cluster: its sum), the
// estimator solves sum z u = 0, sum z e = 0, sum x e = 0, and t = N / sqrt(f Q) with N = sum u y,
// Q = sum v^2 and a factor f of the numbers kept; tau = t* sqrt(f).
//
//     below tau: side N - tau sqrt(Q) < 0, and sqrt(Q) <= kappa Q / tau + tau / (4 kappa) for every
//         kappa > 0, so that the sum of side u y - kappa v^2 is below tau^2 / (4 kappa)
//     above tau: tau^2 Q < N^2, and N^2 <= (low + high) N - low high where N (times the sign that
//         is asked for) is between low and high, two more ends that are searched
//
// to which lambda . z u + mu . z e + nu x e is added. Parameters are delta, gamma and b. u has none
// but delta and e the others, so v is affine in each of them and -v^2 concave: nothing is lost at
// the corners. Of v^2 above tau the tangent at the centre is kept, as a function of v.
#pragma once

#include <memory>
#include <vector>

#include "equations.hpp"

namespace quadsweep::estimating {

// Rows in the order of their items; all carry the roots of their weights.
struct RobustTest {
    int rows = 0, controls = 0;
    std::vector<std::vector<double>> z;  // orthogonal, of mean square one
    std::vector<double> x, y;            // orthogonal to z, of mean square one
    // What the rounding of each entry is relative to.
    std::vector<std::vector<double>> z_size;
    std::vector<double> x_size, y_size;
    std::vector<int> score_first;  // rows of a score: single ones, or those of a cluster
    std::vector<int> item_first;   // scores of an item
    bool above = false;            // t above tau, with this sign; or |t| below it
    int sign = 1;
    double tau = 0;

    int scores() const { return static_cast<int>(score_first.size()) - 1; }
    int items() const { return static_cast<int>(item_first.size()) - 1; }
};

std::unique_ptr<Equations> robust_equations(const RobustTest& test);

// Boxes that hold the parameters of every subset with at most `most` items removed; none where
// some of them may have no bounds.
std::vector<std::unique_ptr<Box>> robust_roots(const RobustTest& test, int most);

}  // namespace quadsweep::estimating
