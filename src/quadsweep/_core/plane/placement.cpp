#include "placement.hpp"

#include <algorithm>
#include <cmath>

#include "shared/exact_sums.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

constexpr int most_exponent = 50;  // of a spread against the data's, so that squares are finite

// The best line as the x axis, and units of its residuals.
std::optional<Placing> on_line(const Problem& problem, const Placing& now,
                               const std::vector<int>& best) {
    const Points& p = problem.points;
    const double k = static_cast<double>(best.size());
    const ExactSums sums = exact_sums(p.given_x, p.given_y, best, best.size() <= precise_points);
    const bool near = sums.rest.hi < tuning::near_fit * sums.b.hi;
    if (!(sums.rest.hi > 0 && sums.a.hi > 0 && near)) return std::nullopt;
    Placing at = now;
    at.slope = std::ldexp((sums.c / sums.a).value(), sums.ey - sums.ex);
    at.ex = std::max(std::ilogb(std::sqrt(sums.a.hi / k)) + sums.ex, at.ex - most_exponent);
    at.ey = std::ilogb(std::sqrt(sums.rest.hi / k)) + sums.ey;
    if (!(std::fabs(at.slope) < 0x1p300) || std::abs(at.ey) > 400) return std::nullopt;
    return at;
}

}  // namespace

bool Placement::move(const Problem& problem, const Placing& to, Control& control) {
    at = to;
    const int twice = problem.objective == Objective::lts ? 2 : 0;
    unit = std::ldexp(1.0, twice * (at.ey - problem.points.ey));
    cells = make_cells(problem.points, at, problem.n_jobs, &control);
    if (!ready()) return false;
    ranges = quadsweep::ranges(cells, problem.points, at, problem.k, problem.n_jobs);
    return true;
}

Moments Placement::moments_of(const Points& points, const std::vector<int>& subset) const {
    Moments s;
    const Placer place(at);
    for (int i : subset) {
        double x = points.given_x[i], y = points.given_y[i];
        place(x, y);
        s.add(x, y);
    }
    return s;
}

Moments Placement::translate(const Points& p, const Moments& m, int kept, int k) const {
    const double f = static_cast<double>(k) / kept, n = kept;
    const double x0 = std::ldexp(at.x0 - p.mx, -p.ex), y0 = std::ldexp(at.y0 - p.my, -p.ey);
    const double x = m.x - n * x0, y = m.y - n * y0;
    const double xx = m.xx - 2 * x0 * m.x + n * x0 * x0;
    const double yy = m.yy - 2 * y0 * m.y + n * y0 * y0;
    const double xy = m.xy - x0 * m.y - y0 * m.x + n * x0 * y0;
    const double sx = std::ldexp(1.0, p.ex - at.ex), sy = std::ldexp(1.0, p.ey - at.ey);
    return {f * sx * x, f * sy * y, f * sx * sx * xx, f * sx * sy * xy, f * sy * sy * yy};
}

Placing about(const Points& points, const Moments& s, double k, bool rescale) {
    Placing at = placing(points);
    at.x0 = points.mx + std::ldexp(s.x / k, points.ex);
    at.y0 = points.my + std::ldexp(s.y / k, points.ey);
    const Centred m = centred(s, k);
    if (rescale && m.a > 0 && m.b > 0) {
        at.ex += std::max(std::ilogb(std::sqrt(m.a / k)), -most_exponent);
        at.ey += std::max(std::ilogb(std::sqrt(m.b / k)), -most_exponent);
    }
    return at;
}

std::optional<Placing> closer(const Problem& problem, const Placement& now,
                              const std::vector<int>& best, double score) {
    if (best.empty()) return std::nullopt;
    const double k = static_cast<double>(best.size());
    std::optional<Placing> at;
    if (problem.objective == Objective::lts) {
        at = on_line(problem, now.at, best);
    } else if (problem.objective == Objective::tv) {
        const Moments m = now.moments_of(problem.points, best);
        const double away = std::hypot(m.x, m.y) / k;
        if (away * away > tuning::far_cluster * -score) at = now.at;
    }
    if (!at) return at;
    at->x0 = at->y0 = 0;
    for (int i : best) {
        at->x0 += problem.points.given_x[i] / k;
        at->y0 += problem.points.given_y[i] / k;
    }
    return at;
}

}  // namespace quadsweep
