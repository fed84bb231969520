#include "incumbents.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace quadsweep {
namespace {

// Squared distance from the line through two points, or what plays its part for the objective.
Quadratic start_cost(Objective objective, double x1, double y1, double x2, double y2) {
    const double mx = (x1 + x2) / 2, my = (y1 + y2) / 2;
    switch (objective) {
        case Objective::cov:
            return moved({0, -1, 0}, -mx, -my);
        case Objective::dv:
            return moved({-1, 0, 1}, -mx, -my);
        case Objective::tv:
            return moved({1, 0, 1}, -x1, -y1);
        case Objective::var:
            return moved({1, 0, 0}, -x1, -y1);
        case Objective::r2:
        case Objective::r:
        case Objective::lts:
            break;
    }
    const double dx = x2 - x1, dy = y2 - y1;
    return moved({dy * dy, -2 * dx * dy, dx * dx}, -x1, -y1);
}

}  // namespace

std::vector<Moments> promising(const Cells& cells, Objective objective, int k, int starts,
                               std::uint64_t seed) {
    struct Found {
        double score;
        Moments moments;
    };
    std::vector<Found> found;
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> any(0, cells.size() - 1);
    for (int s = 0; s < starts; ++s) {
        const int p = any(random), q = any(random);
        const Quadratic cost =
            start_cost(objective, cells.x[p], cells.y[p], cells.x[q], cells.y[q]);
        double score = 0;
        const Selection best = concentrate(cells, cheapest(cells, cost, k), objective, k, score);
        const bool known = std::any_of(found.begin(), found.end(), [&](const Found& f) {
            return std::fabs(f.score - score) <= 1e-12 * std::fabs(score);
        });
        if (score != undefined && !known) found.push_back({score, best.moments});
    }
    std::sort(found.begin(), found.end(),
              [](const Found& f, const Found& g) { return f.score > g.score; });
    std::vector<Moments> out;
    for (const Found& f : found) out.push_back(f.moments);
    return out;
}

Points sample(const Points& points, int most, std::uint64_t seed) {
    Points out;
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> any(0, points.size() - 1);
    for (int i = 0; i < most; ++i) {
        const int j = any(random);
        out.x.push_back(points.x[j]);
        out.y.push_back(points.y[j]);
    }
    return out;
}

}  // namespace quadsweep
