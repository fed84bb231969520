#include "incumbents.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace quadsweep {
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
            loss(gain_of_pair(objective, cells.x[p], cells.y[p], cells.x[q], cells.y[q]));
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
