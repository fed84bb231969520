#include "points.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exact_sums.hpp"
#include "parallel.hpp"

namespace quadsweep {
namespace {

// Every so many values where there are many.
std::vector<double> some_values(std::span<const double> all) {
    const std::size_t step = 1 + all.size() / 10000;
    std::vector<double> some;
    some.reserve(all.size() / step + 1);
    for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    return some;
}

double median(std::vector<double> v) {
    const auto mid = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) / 2);
    std::nth_element(v.begin(), mid, v.end());
    return *mid;
}

// Exponent of the median distance from zero or, where more than half the points coincide, of the
// mean one; 0 for a constant column.
int spread_exponent(std::span<const double> v) {
    std::vector<double> distance = some_values(v);
    for (double& t : distance) t = std::fabs(t);
    double spread = median(std::move(distance));
    if (spread > 0) return std::ilogb(spread);
    double most = 0;
    for (double t : v) most = std::fmax(most, std::fabs(t));
    if (most == 0) return 0;
    const int unit = std::ilogb(most);  // subnormal numbers divided by their number would vanish
    for (double t : v) spread += std::ldexp(std::fabs(t), -unit) / static_cast<double>(v.size());
    return unit + std::ilogb(spread);
}

// Any value near the middle will do.
void centre(std::span<const double> from, Array<double>& to, double& m) {
    m = median(some_values(from));
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] - m;
}

void rescale(Array<double>& v, int exponent) { place(v, 0, exponent, v); }

bool overflows(std::span<const double> v) {
    constexpr double most = 0x1p200;  // its fourth power times a million million is still finite
    int beyond = 0;
#pragma omp simd reduction(| : beyond)
    for (std::size_t i = 0; i < v.size(); ++i) beyond |= std::fabs(v[i]) <= most ? 0 : 1;
    return beyond != 0;
}

// Rows so close together beside others that the squares of their triangles vanish: only near zero
// can doubles be that close.
bool vanishes(std::span<const double> v) {
    constexpr double least = 0x1p-400;
    double most = 0;
    for (double t : v) most = std::fmax(most, std::fabs(t));
    return std::any_of(v.begin(), v.end(),
                       [&](double t) { return t != 0 && std::fabs(t) < least * most; });
}

// Rows so close together, beside others that set the unit, that squares of their differences vanish
// in this unit though not in the user's.
bool underflows(std::span<const double> v, int exponent) {
    if (exponent <= 0) return false;
    const double least = std::ldexp(1.0, exponent - 440);  // of a row; a difference is 2^-53 of it
    return std::any_of(v.begin(), v.end(),
                       [&](double t) { return t != 0 && std::fabs(t) < least; });
}

double half_range(std::span<const double> v) {
    const auto [lo, hi] = std::minmax_element(v.begin(), v.end());
    return (*hi - *lo) / 2;
}

}  // namespace

Points standardise(std::span<const double> x, std::span<const double> y, Objective objective,
                   int n_jobs) {
    Points p;
    if (objective == Objective::var) {
        p.held = std::make_shared<const std::vector<double>>(y.size(), 0.0);
        y = *p.held;
    }
    parallel_for(x.size() > 10000 ? n_jobs : 1, 2, [&](int, std::int64_t column) {
        centre(column == 0 ? x : y, column == 0 ? p.x : p.y, column == 0 ? p.mx : p.my);
        (column == 0 ? p.ex : p.ey) = spread_exponent(column == 0 ? p.x : p.y);
        return true;
    });
    if (objective == Objective::tv || objective == Objective::dv)
        p.ex = p.ey = std::max(p.ex, p.ey);
    bool wide[2];
    parallel_for(x.size() > 10000 ? n_jobs : 1, 2, [&](int, std::int64_t column) {
        Array<double>& v = column == 0 ? p.x : p.y;
        rescale(v, column == 0 ? p.ex : p.ey);
        wide[column] = overflows(v);
        return true;
    });
    p.given_x = x;
    p.given_y = y;
    p.wide = wide[0] || wide[1];
    const bool unitless = objective == Objective::r2 || objective == Objective::r;
    if (!unitless) p.wide |= underflows(x, p.ex) || underflows(y, p.ey);
    if (objective == Objective::mcd) p.wide |= vanishes(x) || vanishes(y);
    return p;
}

void place(std::span<const double> v, double shift, int exponent, std::span<double> out) {
    const double factor = std::ldexp(1.0, -exponent);
    if (std::isnormal(factor)) {
        for (std::size_t i = 0; i < v.size(); ++i) out[i] = (v[i] - shift) * factor;
    } else {
        for (std::size_t i = 0; i < v.size(); ++i) out[i] = std::ldexp(v[i] - shift, -exponent);
    }
}

double Placing::residual(double X, double Y) const {
    const DoubleDouble dx = two_sum(X, -x0);
    ExactSum<6> sum;
    sum.add(two_sum(Y, -y0));
    sum.add(two_product(-slope, dx.hi));
    sum.add(two_product(-slope, dx.lo));
    return sum.value();
}

Points some_of(const Points& points, std::span<const int> rows) {
    Points some;
    some.mx = points.mx;
    some.my = points.my;
    some.ex = points.ex;
    some.ey = points.ey;
    some.wide = points.wide;
    std::vector<double> given;
    given.reserve(2 * rows.size());
    for (int i : rows) {
        some.x.push_back(points.x[i]);
        some.y.push_back(points.y[i]);
        given.push_back(points.given_x[i]);
    }
    for (int i : rows) given.push_back(points.given_y[i]);
    some.held = std::make_shared<const std::vector<double>>(std::move(given));
    const std::span<const double> all(*some.held);
    some.given_x = all.first(rows.size());
    some.given_y = all.last(rows.size());
    return some;
}

std::string_view name(Status status) {
    switch (status) {
        case Status::optimal:
            return "optimal";
        case Status::best_separable:
            return "best_separable";
        case Status::heuristic:
            return "heuristic";
        case Status::time_limit:
            return "time_limit";
        case Status::interrupted:
            return "interrupted";
        case Status::memory_limit:
            break;
    }
    return "memory_limit";
}

double accurate_score(const Points& points, std::span<const int> subset, Objective objective) {
    const bool precise = subset.size() <= precise_points;
    const ExactSums sums = exact_sums(points.given_x, points.given_y, subset, precise);
    const WideScore score = wide_score(sums, static_cast<double>(subset.size()), objective);
    return score.in_units(value_exponent(points, objective));
}

double rough_score(const Points& points, std::span<const int> subset, Objective objective) {
    const ExactSums sums = exact_sums(points.given_x, points.given_y, subset, false);
    const WideScore score = wide_score(sums, static_cast<double>(subset.size()), objective);
    return score.in_units(value_exponent(points, objective));
}

// A column within an interval of length 2h has variance at most h^2 (Popoviciu).
double trivial_bound(const Problem& problem) {
    const double hx = half_range(problem.points.x), hy = half_range(problem.points.y);
    const double up = 1 + 1e-12;
    switch (problem.objective) {
        case Objective::r2:
        case Objective::r:
            return 1;
        case Objective::cov:
            return problem.points.wide ? infinity : hx * hy * up;
        case Objective::dv:
            return problem.points.wide ? infinity : hx * hx * up;
        case Objective::tv:
        case Objective::var:
        case Objective::lts:
        case Objective::mcd:
            break;
    }
    return 0;
}

// The power of two between a value in standardised coordinates and one in the user's.
int value_exponent(const Points& points, Objective objective) {
    if (points.wide) return 0;  // no unit suits all of its subsets but the user's
    switch (objective) {
        case Objective::r2:
        case Objective::r:
            return 0;
        case Objective::cov:
            return points.ex + points.ey;
        case Objective::dv:
        case Objective::tv:
        case Objective::var:
            return 2 * points.ex;
        case Objective::lts:
            return 2 * points.ey;
        case Objective::mcd:
            break;
    }
    return 2 * (points.ex + points.ey);
}

double value_of(const Points& points, Objective objective, double score) {
    return std::ldexp(sense(objective) * score, value_exponent(points, objective)) + 0.0;  // no -0
}

double score_of(const Points& points, Objective objective, double value) {
    return sense(objective) * std::ldexp(value, -value_exponent(points, objective));
}

bool Incumbent::offer(double candidate, std::span<const int> sorted_subset) {
    if (!(candidate >= score) || candidate == undefined) return false;  // NaN never wins
    if (candidate == score &&
        !std::lexicographical_compare(sorted_subset.begin(), sorted_subset.end(), subset.begin(),
                                      subset.end())) {
        return false;
    }
    score = candidate;
    subset.assign(sorted_subset.begin(), sorted_subset.end());
    return true;
}

}  // namespace quadsweep
