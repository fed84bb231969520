// A box of the search for the least covariance determinant, and its corners.
//
// The searched parameters of a subset I are those of its regression of x on y, minus the slope, S,
// and the intercept A, and the mean Y and the standard deviation l of y (all with the divisor of
// the covariance, the number kept). With g = 1 / l, the residuals
//
//   e = l (x + S y - A) = l x + s y - a      have mean square det, and none of 1 or y in them,
//   f = g (y - Y)       = g y - v            have mean square 1 and mean 0.
//
// So det < t exactly if the sum over I of
//
//   e^2 / t + phi f^2 - (1 + phi) + (n1 + n2 y) e + n3 f
//
// is negative, whatever the multipliers phi > 0, n1, n2 and n3: what they multiply is zero at I's
// own parameters. In a box both squares are replaced by their tangents at the centre; what is left
// is affine in (l, s, a, g, v). The box's image there lies in the hull of 24 points: (l, g) in the
// triangle of the arc's ends and of the point where the tangents at the ends meet, and s = l S,
// a = l A, v = g Y affine in l and g and in each of S, A and Y. The least sum of k affine costs is
// concave, so it is least at one of these 24 corners.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/box.hpp"
#include "shared/cost.hpp"

namespace quadsweep::ellipse {

enum Parameter : int { L, S, A, Y };
inline constexpr int parameters = 4;
inline constexpr int corners = 24;

// Free in every box: any values give a bound.
struct Multipliers {
    double phi = 1, n1 = 0, n2 = 0, n3 = 0;
};

struct Box {
    double lo[parameters], hi[parameters];
    double lambda = 0;        // threshold of the parent's centre
    bool guessed = false;     // whether it is worth starting from
    double upper = infinity;  // no subset of the box scores more
    double priority = 0;
    int depth = 0;

    std::shared_ptr<const Undecided> open;  // points only; shared by the halves of a box
    int need = 0;                           // points still to be kept
    DecidedMoments kept;
    std::shared_ptr<const Decided> decided;

    double half(Parameter p) const { return (hi[p] - lo[p]) / 2; }
    double middle(Parameter p) const { return lo[p] + half(p); }
    double most(Parameter p) const { return std::max(std::fabs(lo[p]), std::fabs(hi[p])); }
};
using Boxes = std::vector<std::unique_ptr<Box>>;

// The coefficients of e and f.
struct Fit {
    double l = 1, s = 0, a = 0, g = 1, v = 0;

    Fit() = default;
    Fit(double at_l, double at_g, double slope, double intercept, double mean)
        : l(at_l), s(at_l * slope), a(at_l * intercept), g(at_g), v(at_g * mean) {}
    Affine e() const { return {l, s, -a}; }
    Affine f() const { return {0, g, -v}; }
    friend Fit operator-(const Fit& p, const Fit& q) {
        Fit d;
        d.l = p.l - q.l;
        d.s = p.s - q.s;
        d.a = p.a - q.a;
        d.g = p.g - q.g;
        d.v = p.v - q.v;
        return d;
    }
};

// Where both squares are replaced by their tangents: a point of the arc, and the middle elsewhere.
inline Fit centre_of(const Box& box) {
    const double l = std::sqrt(box.lo[L]) * std::sqrt(box.hi[L]);
    return {l, 1 / l, box.middle(S), box.middle(A), box.middle(Y)};
}
inline Fit corner_of(const Box& box, int corner) {
    const double l1 = box.lo[L], l2 = box.hi[L];
    const int vertex = corner >> 3;
    const double l = vertex == 0 ? l1 : vertex == 1 ? l2 : 2 * l1 / (l1 + l2) * l2;
    const double g = vertex == 0 ? 1 / l1 : vertex == 1 ? 1 / l2 : 2 / (l1 + l2);
    const auto end = [&](Parameter p, int bit) {
        return (corner & bit) != 0 ? box.hi[p] : box.lo[p];
    };
    return {l, g, end(S, 1), end(A, 2), end(Y, 4)};
}

}  // namespace quadsweep::ellipse
