// The most that m of n rows take, where each takes its own cost and each two of them a pair's
// (docs/theory/many-predictors.md):
//
//     sum over O of own_i + sum over i != j in O of pair_ij,      |O| = m.
//
// Own costs can be shared with the m - 1 others, and any antisymmetric pi cancels, so that this is
// at most the sum of the m largest of
//
//     a own_i + the sum of the m - 1 largest of pair_ij + (1 - a) / (m - 1) own_j + pi_ij.
//
// a is chosen from a grid, pi by subgradient steps. Own costs and pairs are affine in a parameter
// g: own_i - g slope_i, pair_ij - g u_i u_j.
#pragma once

#include <utility>
#include <vector>

#include "shared/control.hpp"

namespace quadsweep::many_predictors {

struct Costs {
    int rows = 0;
    const double* pairs = nullptr;  // rows * rows, symmetric; the diagonal does not count
    std::vector<double> own, slope, u;
};

// For each row of a square matrix the sum of the k largest of sign * entry * weight, or for sign 0
// of |entry| * weight, off the diagonal.
std::vector<double> largest_row_sums(const double* matrix, const std::vector<double>& weight, int k,
                                     int sign);

class PairBound {
  public:
    PairBound(Costs costs, int m);

    // At least the most that m rows take at g; ends when it is at most `enough`. The multipliers
    // stay for the next g.
    double improve(double g, double enough, int steps, int n_jobs, Control& control);

  private:
    struct Row {
        double sum = 0, size = 0;  // size: of what is summed
    };
    Row evaluate(int i, double g, std::vector<double>& values, std::vector<double>& buffer);
    double evaluate_all(double g, int n_jobs, Control& control);
    void choose_share(double g, int n_jobs, Control& control);
    double step(double g, double length);

    Costs costs_;
    int m_;
    double share_ = 1;  // a
    double most_u_ = 0, most_linear_ = 0;
    std::vector<float> multiplier_;  // pi
    std::vector<double> linear_;     // own costs at g
    std::vector<double> least_;      // of each row the least that was summed last
    std::vector<Row> row_;
    std::vector<char> stale_;
    std::vector<int> top_;  // the m rows whose sums are largest
};

}  // namespace quadsweep::many_predictors
