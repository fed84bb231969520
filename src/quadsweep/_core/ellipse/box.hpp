// A box of the search for the least covariance determinant, and what the points of a subset with
// its parameters there must cost.
//
// The searched parameters of a subset I are those of its regression of x on y, minus the slope, S,
// and the intercept A, and the mean Y and the standard deviation l of y (all with the divisor of
// the covariance, the number kept). With those of a box's centre, L for its l and g = 1 / L,
//
//   e = L (x + S y - A),    f = g (y - Y),    cost = e^2 / t + phi f^2 + (n1 + n2 y) e + n3 f
//
// for any multipliers phi > 0, n1, n2 and n3. Because I's own residuals have the mean square
// det / l^2, and none of 1 or y in them, the mean of the cost over I is known from its parameters
// (S', A', Y', l) and det alone: with dS = S - S', dA = A - A' and m = dS Y' - dA,
//
//   mean e^2 = (L / l)^2 det + L^2 (dS^2 l^2 + m^2)       mean e   = L m
//   mean f^2 = g^2 (l^2 + (Y' - Y)^2)                     mean f   = g (Y' - Y)
//                                                         mean y e = L (dS (l^2 + Y'^2) - dA Y')
//
// If the k cheapest points cost more than k times the most that this can be in the box with
// det < t, then no subset of k points has its parameters in the box and a determinant below t.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "plane/box.hpp"
#include "root.hpp"
#include "shared/cost.hpp"

namespace quadsweep::ellipse {

// Free in every box: any values give a bound. `e2` is 1 / t, or 0 where f alone is asked.
struct Multipliers {
    double e2 = 1, phi = 1, n1 = 0, n2 = 0, n3 = 0;
};

struct Box : Rectangle {
    double lambda = 0;        // threshold of the parent's centre
    bool guessed = false;     // whether it is worth starting from
    double upper = infinity;  // no subset of the box scores more
    double missing = 0;       // by how much the bound failed to close it
    int depth = 0;

    std::shared_ptr<const Undecided> open;  // points only; shared by the halves of a box
    int need = 0;                           // points still to be kept
    DecidedMoments kept;
    std::shared_ptr<const Decided> decided;
    Ranges ranges{};      // of the subsets that are left
    bool ranged = false;  // whether they are those of what is open now
};
inline double bytes(const Box& box) { return sizeof(Box) + bytes(*box.open, box.decided.get()); }
using Boxes = std::vector<std::unique_ptr<Box>>;

// The coefficients of e and f at the centre of a box.
struct Fit {
    double l = 1, s = 0, a = 0, g = 1, v = 0;

    Affine e() const { return {l, s, -a}; }
    Affine f() const { return {0, g, -v}; }
};
inline Fit centre_of(const Rectangle& box) {
    const double l = std::sqrt(box.lo[L]) * std::sqrt(box.hi[L]), g = 1 / l;
    return {l, l * box.middle(S), l * box.middle(A), g, g * box.middle(Y)};
}

// The mean cost of a subset with its parameters in the box and a determinant of at most t is no
// more than this.
double most_a_point(const Rectangle& box, const Fit& centre, const Multipliers& free, double t);

}  // namespace quadsweep::ellipse
