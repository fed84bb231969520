// The points in the kernels' own coordinates, the question asked of them, and the answer.
//
//   x = (X - mx) * 2^-ex,   y = (Y - my) * 2^-ey
//
// mx is one of the data (the median) and the scale is a power of two, so scaling rounds nothing,
// and centring moves a point by at most half an ulp of its distance from the median. Kernels search
// by these columns; what they find is scored, compared and called identical by the rows as given.
// Values go back by a power of two, exactly.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "objectives.hpp"

namespace quadsweep {

struct Points {
    Array<double> x, y;
    double mx = 0, my = 0;
    int ex = 0, ey = 0;
    // The rows as given. They belong to the caller, or to `held` where some are left out or made
    // up.
    std::span<const double> given_x, given_y;
    std::shared_ptr<const std::vector<double>> held;
    // Squares of these columns may overflow: kernels that add them up must not be run.
    bool wide = false;

    int size() const { return static_cast<int>(x.size()); }
    bool same(int i, int j) const { return given_x[i] == given_x[j] && given_y[i] == given_y[j]; }
};

// Some of the points, in this order.
Points some_of(const Points& points, std::span<const int> rows);

// Where a kernel puts the points: x = (X - x0) 2^-ex, y = (Y - y0 - slope (X - x0)) 2^-ey. From the
// rows as given and rounded once, so a placed coordinate is off by at most an ulp of itself,
// however far away the points are and however close to the line.
struct Placing {
    double x0 = 0, y0 = 0;
    int ex = 0, ey = 0;
    double slope = 0;

    void operator()(double& x, double& y) const {
        const double X = x, Y = y;
        x = std::ldexp(X - x0, -ex);
        y = std::ldexp(slope == 0 ? Y - y0 : residual(X, Y), -ey);
    }
    double residual(double X, double Y) const;
};
// The same for many points: powers of two are made once.
class Placer {
  public:
    explicit Placer(const Placing& at)
        : at_(at),
          fx_(std::ldexp(1.0, -at.ex)),
          fy_(std::ldexp(1.0, -at.ey)),
          plain_(at.slope == 0 && std::isnormal(fx_) && std::isnormal(fy_)) {}

    void operator()(double& x, double& y) const {
        if (!plain_) return at_(x, y);
        x = (x - at_.x0) * fx_;
        y = (y - at_.y0) * fy_;
    }

  private:
    Placing at_;
    double fx_, fy_;
    bool plain_;
};
inline Placing placing(const Points& p) { return {p.mx, p.my, p.ex, p.ey}; }

// out[i] = (v[i] - shift) * 2^-exponent.
void place(std::span<const double> v, double shift, int exponent, std::span<double> out);

// Objectives that add x to y (tv, dv) need one scale for both axes; the others get one each. var is
// a matter of x alone: y becomes zero for it, and what is proved of (x, 0) is proved.
Points standardise(std::span<const double> x, std::span<const double> y, Objective objective,
                   int n_jobs = 1);

enum class Status { optimal, best_separable, heuristic, time_limit, interrupted, memory_limit };
std::string_view name(Status status);

struct Problem {
    Points points;
    Objective objective = Objective::r2;
    int k = 0;
    double tol = 1e-9;
    std::uint64_t seed = 0;
    int n_jobs = 1;
    double memory_limit = infinity;  // bytes, of the boxes that wait

    int size() const { return points.size(); }
};

struct Answer {
    std::vector<int> inliers;  // sorted
    double score = undefined;  // in standardised coordinates
    double bound = infinity;   // no subset scores more
    Status status = Status::optimal;
    std::uint64_t nodes = 0;
};

// The score of a subset from its rows as given: right to the last digit or two up to
// `precise_points`, to a few ulps of the sums it is made of beyond. `undefined` where the objective
// has no value on it.
inline constexpr std::size_t precise_points = 20000;
double accurate_score(const Points& points, std::span<const int> subset, Objective objective);
// The same to a few ulps of its sums whatever the size, where nothing depends on the last digits.
double rough_score(const Points& points, std::span<const int> subset, Objective objective);

// A bound that holds for every subset and costs nothing: for methods that prove nothing.
double trivial_bound(const Problem& problem);

// From a score in standardised coordinates to the objective's value in the user's units.
double value_of(const Points& points, Objective objective, double score);
double score_of(const Points& points, Objective objective, double value);
int value_exponent(const Points& points, Objective objective);

// The best subset so far. Larger scores win; equal scores go to the smaller subset in dictionary
// order, so that the answer does not depend on which thread came first.
struct Incumbent {
    double score = undefined;
    std::vector<int> subset;

    bool offer(double candidate, std::span<const int> sorted_subset);
    void merge(const Incumbent& other) { offer(other.score, other.subset); }
};

}  // namespace quadsweep
