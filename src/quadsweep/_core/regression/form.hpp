// The criterion of a question, and what a subset's own sums say about it.
//
// A subset I is better than t if and only if, for some theta (up to a factor),
//
//     max over g   sum over I of [ s_e e^2 - s_u u^2 ] - base theta_y^2   <  0,
//
//     e = theta . c (the searched columns),   u = sum over active a of theta_a v_a - g . c (free).
//
//   question             searched      active: v        free        s_e   s_u          base
//   R2 > t               Z, y          y: y             intercept   1     1 - t        0
//   RSS < t              Z, y          none             none        1     0            t
//   partial r > t > 0    Z, -x, y      -x: x,  y: y     Z           1     (1-t)/(1+t)  0
//   partial r > t < 0    Z, x, -y      x: -x,  -y: -y   Z           (1+t)/(1-t)  1     0
//
// The sign of a slope, partial r > 0, is that of a sum of products: with what Z leaves of -x in the
// place of one of the two factors e,
//
//     sum over I of  l e  <  0,   l = -x - nu . z for any nu,
//
// because e = theta . c, c the columns of Z and y, is orthogonal to Z on I.
//
// In the last two rows the searched tau = theta_x / theta_y > 0 may be the subset's own,
// sqrt(SS(y|Z) / SS(x|Z)), at which the test is exact; elsewhere it is only weaker.
// In the last row the test holds for every tau, so tau need not be searched: where the coefficients
// of Z in the fits of Y + x and Y - x (Y = -y) are known to be bounded, boxes are rectangles of
// these, and each box takes the tau that serves it best, which makes theta_z a known mixture of the
// two. The closer tau is to 1 the less the second matters, and it is hardly ever split.
// The largest |theta| is normalised to 1: one frame for each searched column, the others in
// [-1, 1], those of tau in [0, 1] or, if the largest belongs to Z, in [-1, 0] too. Of a subset on
// which columns of Z depend on each other, the searched theta is the one of least norm.
#pragma once

#include "gram.hpp"
#include "items.hpp"

namespace quadsweep::regression {

struct Form {
    Kind kind = Kind::r2;
    int searched = 0, active = 0, fitted = 0, columns = 0;
    int free_count = 0;  // the first columns of Z
    double s_e = 1, s_u = 0, base = 0;
    double floor[most_columns] = {};

    Form() = default;
    Form(Kind kind, bool centred, const Placed& placed);
    // Sets what is to be beaten: R2, RSS in the search's units, or a partial correlation.
    void aim(double t);
    // Active columns come last.
    int first_active() const { return searched - active; }
    // Searched columns beside Z: their coefficients have one sign.
    bool signed_at(int column) const { return column >= fitted; }
    // Whether one column is fitted on Z, so that the normal equations bound a box (bound.hpp).
    bool equations() const { return fitted == searched - 1; }
    int response() const { return searched - 1; }
    // The column that the left factor has beside Z (bound.hpp), and columns up to it.
    int leading() const { return kind == Kind::sign ? searched : response(); }
    int left_columns() const { return leading() + 1; }
};

// The entries of s_e left right', symmetric, minus s_u phi phi': a cost is their product with a
// Gram.
void quadratic(const Form& form, const double* left, const double* right, const double* phi,
               double* out);

// A subset's own parameters, from its sums.
struct Own {
    double theta[most_columns] = {};
    double left[most_columns] = {};  // the left factor where theta is its own: theta but for a sign
    double g[most_searched] = {};
    double score = undefined;  // R2, minus RSS in the search's units, partial r
    double best = infinity;    // the score may be as large as this for all that rounding tells
};
// `t`: what is aimed at; only the partial correlations' steps depend on it.
Own own(const Form& form, const Gram& sums);

}  // namespace quadsweep::regression
