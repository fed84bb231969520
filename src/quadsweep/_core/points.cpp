#include "points.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel.hpp"

namespace quadsweep {
namespace {

// A median of every so many values where there are many: any value near the middle will do.
double middle(const std::vector<double>& all) {
    const std::size_t step = 1 + all.size() / 100000;
    std::vector<double> v;
    v.reserve(all.size() / step + 1);
    for (std::size_t i = 0; i < all.size(); i += step) v.push_back(all[i]);
    const auto mid = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) / 2);
    std::nth_element(v.begin(), mid, v.end());
    return *mid;
}

// Exponent of the median distance from zero or, where more than half the points coincide, of the
// mean one; 0 for a constant column.
int spread_exponent(const std::vector<double>& v) {
    std::vector<double> distance(v.size());
    std::transform(v.begin(), v.end(), distance.begin(), [](double t) { return std::fabs(t); });
    double spread = middle(distance);
    if (spread == 0) {
        for (double t : distance) spread += t / static_cast<double>(distance.size());
    }
    return spread > 0 ? std::ilogb(spread) : 0;
}

void centre(std::span<const double> from, std::vector<double>& to, double& m) {
    to.assign(from.begin(), from.end());
    m = middle(to);
    for (double& t : to) t -= m;
}

void rescale(std::vector<double>& v, int exponent) {
    if (exponent == 0) return;
    const double factor = std::ldexp(1.0, -exponent);
    if (std::isnormal(factor)) {
        for (double& t : v) t *= factor;
    } else {
        for (double& t : v) t = std::ldexp(t, -exponent);
    }
}

double half_range(const std::vector<double>& v) {
    const auto [lo, hi] = std::minmax_element(v.begin(), v.end());
    return (*hi - *lo) / 2;
}

// b - c^2/a loses all digits where b is much larger than what is left of it; the residuals
// themselves do not, and an error in the slope matters to second order only.
double squared_residuals(const Points& points, std::span<const int> subset, double mx, double my,
                         double slope) {
    double sum = 0, squares = 0;
    for (int i : subset) {
        const double e = (points.y[i] - my) - slope * (points.x[i] - mx);
        sum += e;
        squares += e * e;
    }
    return std::fmax(squares - sum * (sum / static_cast<double>(subset.size())), 0.0);
}

// a - b loses all digits where both columns vary much and nearly alike; the covariance of their
// difference and their sum does not. About means of few digits both are exact, or nearly.
double difference_of_variances(const Points& points, std::span<const int> subset, double mx,
                               double my) {
    const double k = static_cast<double>(subset.size());
    const double x0 = static_cast<float>(mx), y0 = static_cast<float>(my);
    const auto difference = [&](int i) { return (points.x[i] - x0) - (points.y[i] - y0); };
    const auto sum = [&](int i) { return (points.x[i] - x0) + (points.y[i] - y0); };
    double mean_difference = 0, mean_sum = 0, products = 0;
    for (int i : subset) {
        mean_difference += difference(i);
        mean_sum += sum(i);
    }
    mean_difference /= k;
    mean_sum /= k;
    for (int i : subset) products += (difference(i) - mean_difference) * (sum(i) - mean_sum);
    return products / k;
}

}  // namespace

Points standardise(std::span<const double> x, std::span<const double> y, Objective objective,
                   int n_jobs) {
    Points p;
    parallel_for(x.size() > 10000 ? n_jobs : 1, 2, [&](int, std::int64_t column) {
        centre(column == 0 ? x : y, column == 0 ? p.x : p.y, column == 0 ? p.mx : p.my);
        (column == 0 ? p.ex : p.ey) = spread_exponent(column == 0 ? p.x : p.y);
        return true;
    });
    if (objective == Objective::tv || objective == Objective::dv)
        p.ex = p.ey = std::max(p.ex, p.ey);
    rescale(p.x, p.ex);
    rescale(p.y, p.ey);
    return p;
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
    const double k = static_cast<double>(subset.size());
    double mx = 0, my = 0;
    for (int i : subset) {
        mx += points.x[i];
        my += points.y[i];
    }
    mx /= k;
    my /= k;
    if (objective == Objective::dv) return difference_of_variances(points, subset, mx, my);
    const double x0 = points.x[subset[0]], y0 = points.y[subset[0]];
    bool x_varies = false, y_varies = false;
    Moments s;
    for (int i : subset) {
        x_varies |= points.x[i] != x0;
        y_varies |= points.y[i] != y0;
        s.add(points.x[i] - mx, points.y[i] - my);
    }
    Centred m = centred(s, k);
    if (!x_varies) m.a = m.c = 0;
    if (!y_varies) m.b = m.c = 0;
    if (objective == Objective::lts && m.a > 0)
        return -squared_residuals(points, subset, mx, my, m.c / m.a);
    return score(objective, m, k);
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
            return hx * hy * up;
        case Objective::dv:
            return hx * hx * up;
        case Objective::tv:
        case Objective::var:
        case Objective::lts:
            break;
    }
    return 0;
}

// The power of two between a value in standardised coordinates and one in the user's.
static int value_exponent(const Points& points, Objective objective) {
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
            break;
    }
    return 2 * points.ey;
}

double value_of(const Points& points, Objective objective, double score) {
    return std::ldexp(sense(objective) * score, value_exponent(points, objective));
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
