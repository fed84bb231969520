// The t test of one coefficient of a linear regression, least squares or with one instrument.
//
// With Q an orthonormal basis of the controls on the rows of a level, and s, x, y the residuals on
// it of the instrument (for least squares: of the term), the term and the outcome, removing the
// rows O gives
//
//     G = I - sum_O Q Q',   u = s + Q . G^-1 sum_O s Q,   likewise x and y,   b = u.y / u.x
//
// on the other rows, and with e = y - b x, v = u e, p columns and k rows
//
//     classical   e.e / (k - p) u.u / (u.x)^2
//     robust      k / (k - p) sum v^2 / (u.x)^2; with v / (1 - h)^power, h the leverage
//     clusters    G / (G - 1) (k - 1) / (k - p) sum over clusters of (sum v)^2 / (u.x)^2; two-way:
//                 of the first and the second less that of both
//     known       u.u / (u.x)^2, each row of variance one in the units of the data
//
// (k_adj, g_adj: whether these factors apply; g_min: with the G of the fewest clusters throughout.)
// Rows carry the roots of their weights. A removal at which a control drops out, or where rounding
// could move t past its threshold, is unclear.
#pragma once

#include <memory>
#include <vector>

#include "removals.hpp"

namespace quadsweep::estimating {

enum class Variance { classical, robust, clustered, known };

struct StandardErrors {
    Variance kind = Variance::classical;
    double power = 0;  // of 1 - h: 0, 1/2 or 1
    bool k_adj = true, g_adj = true, g_min = false;
    bool cluster_freedom = true;  // G - 1 degrees of freedom, or k - p
    double variance = 1;          // of a row where it is known, in units of y
};

struct LinearTest {
    int rows = 0, controls = 0;
    std::vector<double> basis;    // controls columns of `rows` entries, orthonormal
    std::vector<double> s, x, y;  // what it leaves; s is x for least squares
    bool instrument = false;      // whether s is not x
    std::vector<int> first;       // rows of unit i: first[i] .. first[i + 1] - 1
    StandardErrors errors;
    std::vector<std::vector<int>> cluster;  // labels 0, 1, ..: one way, or two ways and both
    std::vector<int> clusters;              // how many labels each has
    int fixed = 0;                          // degrees of freedom used up before
    std::vector<double> critical;           // of |t| or t, by degrees of freedom
    int side = 0;                           // 0: |t| below it, +1: t above it, -1: -t above it
    double error = 0;                       // of the columns, relative to their length
};

std::unique_ptr<Refits> refits_of(const LinearTest& test);

}  // namespace quadsweep::estimating
