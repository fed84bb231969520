// An estimator as equations, and a claim about it as an inequality, over a box of its parameters.
//
// On the rows S an estimator solves sum psi_j(row, theta) = 0; the claim breaks where sum phi(row,
// theta) < 0. For any multipliers, the sum of
//
//     c_i(theta) = phi_i(theta) + lambda . psi_i(theta)
//
// over the k cheapest items is then not above zero at the subset's own theta. In a box, costs() are
// not above c_i and concave in each parameter, the others fixed, so that the least sum over the box
// is at a corner.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "box.hpp"

namespace quadsweep::estimating {

inline constexpr double ulp = 0x1p-53;
inline constexpr double roundings = 64;  // in a cost, relative to the sum of its terms' sizes

// Slopes of a sum of costs: one part without multipliers, and one in proportion to each.
struct Slopes {
    double alone[most_dims] = {}, by[most_dims * most_multipliers] = {};

    void at(const double* multiplier, int dims, int multipliers, double* slope,
            double* by_multiplier) const {
        std::copy(by, by + dims * multipliers, by_multiplier);
        for (int j = 0; j < dims; ++j) {
            const double* row = by + j * multipliers;
            slope[j] = std::inner_product(row, row + multipliers, multiplier, alone[j]);
        }
    }
};

// One thread's.
class Equations {
  public:
    virtual ~Equations() = default;

    virtual int items() const = 0;
    virtual int dims() const = 0;
    virtual int multipliers() const = 0;

    // Everything below is about this box.
    virtual void load(const Box& box) = 0;
    // Multipliers to begin with where there are no others.
    virtual void start(double* multiplier) const = 0;
    // The nearest ones that are allowed.
    virtual void allow(double* multiplier) const = 0;

    // Everything below is about these multipliers.
    virtual void aim(const double* multiplier) = 0;
    // What is added to the sum of the costs; its derivatives by each multiplier.
    virtual double base() const = 0;
    virtual void base_slopes(double* first, double* second) const = 0;
    // Of all items at a corner (bit j: the upper end of dimension j), or at the centre with what
    // the box's width costs.
    virtual void costs(int corner, double* out) = 0;
    virtual void central_costs(double* out) = 0;
    // How much the sum of any costs and the base can be too large by rounding.
    virtual double error() const = 0;

    // For the choice of multipliers, at the centre. Derivatives of the costs by each multiplier:
    virtual const std::vector<std::vector<double>>& gradients() = 0;
    // of their sum with these shares by each parameter, and the derivatives of these by each
    // multiplier, dims() rows of multipliers().
    virtual void slopes(const double* share, double* slope, double* by_multiplier) const = 0;
};

}  // namespace quadsweep::estimating
