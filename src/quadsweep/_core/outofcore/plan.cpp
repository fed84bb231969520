// Good subsets of a sample say where to place all the points, and where their search starts.
#include <algorithm>
#include <cmath>

#include "plane/placement.hpp"
#include "plane/selection.hpp"
#include "plane/starts.hpp"
#include "search.hpp"
#include "shared/exact_sums.hpp"

namespace quadsweep::outofcore {

namespace {

// Residuals of nothing but rounding: as residuals they stay that, whatever they are added to.
void on_exact_line(const Points& points, const std::vector<int>& subset, Placing& at) {
    const ExactSums sums = exact_sums(points.given_x, points.given_y, subset, true);
    if (!(sums.a.hi > 0 && sums.rest.hi <= 0x1p-100 * sums.b.hi)) return;
    at.slope = std::ldexp((sums.c / sums.a).value(), sums.ey - sums.ex);
}

}  // namespace

Plan plan(std::span<const double> x, std::span<const double> y, Objective objective, double share,
          std::uint64_t seed, int n_jobs) {
    Problem problem{standardise(x, y, objective), objective, 0, 1e-9, seed, n_jobs};
    const int n = problem.size();
    problem.k = std::clamp(static_cast<int>(std::lround(share * n)), std::min(3, n), n);
    const Points& points = problem.points;
    Placement here;
    here.at = placing(points);
    const Cells rough = make_cells(points, here.at, n_jobs);
    std::vector<std::vector<int>> good;
    double best = undefined;
    for (const Moments& m : promising_moments(rough, objective, problem.k, seed, n_jobs)) {
        double score = undefined;
        Selection from;
        from.moments = m;
        good.push_back(indices(rough, concentrate(rough, from, objective, problem.k, score)));
        best = std::max(best, score);
    }
    Plan out;
    if (!good.empty()) {
        here.at =
            about(points, here.moments_of(points, good[0]), problem.k, is_correlation(objective));
        if (const auto at = closer(problem, here, good[0], best)) {
            here.at = *at;
        } else if (objective == Objective::lts) {
            on_exact_line(points, good[0], here.at);
        }
    }
    out.at = here.at;
    for (const auto& subset : good) {
        const double f = 1 / static_cast<double>(subset.size());
        const Moments m = here.moments_of(points, subset);
        out.starts.push_back({f * m.x, f * m.y, f * m.xx, f * m.xy, f * m.yy});
    }
    return out;
}

}  // namespace quadsweep::outofcore
