// What the cells of a box cost: for some left and right factor, the ends of the range of their
// rows' costs, and a weight at each end such that the mean is theirs.
//
// With l, r, u the products of left, right and phi with a cell's centre, a row's cost is
//
//     s_e l r - s_u u^2 + gradient . delta + s_e dl dr - s_u du^2,
//
// delta its way from the centre, |delta_j| <= h_j, and dl dr = dl^2 + dl (dr - dl) is at least
// -(dr - dl)^2 / 4, and -|dl| |dr|. The gradient is summed up column by column, in columns of which
// no other is a combination, so that the two squares may cancel.
//
// Of sum (lambda - cost)^+ over the rows the two ends give an upper bound, a chord above a convex
// function; so bounds stay bounds, and are off by what `coarseness` says.
#pragma once

#include <vector>

#include "cells.hpp"
#include "form.hpp"

namespace quadsweep::regression {

struct CellEnds {
    std::vector<double> cost, weight;  // low ends, then high ends
};

class CellCosts {
  public:
    explicit CellCosts(const Cells& cells) : cells_(cells) {}

    void load(const std::vector<int>& open);
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    double copies() const { return copies_; }

    // The left factor, and the right one at the centre of a box; then, for each of up to four, the
    // other square.
    void at(const Form& form, const double* left, const double* theta);
    void other(const Form& form, int which, const double* phi);
    // How far rounding may move any cost in a box, from the largest coefficients there;
    // `difference` bounds those of right - left.
    void measure(const Form& form, const double* left, const double* right,
                 const double* difference, const double* phi);
    // Right at `at`, without rounding; and with another right factor, widened by rounding.
    void centre_ends(const Form& form, CellEnds& out) const;
    void corner_ends(const Form& form, const double* right, int which, CellEnds& out) const;
    // Means over each cell: of a column times a combination of columns, and of costs at `at`.
    void column_times(int column, const double* combination, double* out) const;
    void costs(const double* quadratic, double* out) const;
    const std::vector<double>& weight() const { return weight_; }

    // Adds sum of share times products over the cells, share in copies.
    double product(const std::vector<double>& share, int i, int j) const;
    // Of each cell, the copies that cost less than lambda.
    void chosen(const CellEnds& ends, double lambda, std::vector<double>& share) const;
    double magnitude(std::size_t i) const { return magnitude_[i]; }

  private:
    using Column = std::vector<double>;

    void ends(const Form& form, const double* right, int which, const double* reach,
              const double* error, CellEnds& out) const;
    std::vector<double> in_varying(const Form& form, const double* phi) const;

    const Cells& cells_;
    std::size_t size_ = 0;
    double copies_ = 0;
    std::vector<Column> centre_, half_, mean_;  // of columns, and of products
    Column weight_, nothing_;
    double left_[most_columns] = {}, theta_[most_columns] = {};
    Column factor_, reach_left_, slope_[most_searched];  // slope_: a column times the left factor
    Column reach_centre_, reach_difference_;
    struct Other {
        std::vector<double> phi;  // in the varying columns
        Column u, reach, square;
    };
    Other other_[4];
    Column error_, magnitude_;
};

}  // namespace quadsweep::regression
