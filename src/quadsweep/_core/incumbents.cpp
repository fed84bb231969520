#include "incumbents.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "parallel.hpp"

namespace quadsweep {
std::vector<Moments> promising(const Cells& cells, Objective objective, int k, int starts,
                               std::uint64_t seed, int n_jobs) {
    struct Found {
        double score;
        Moments moments;
    };
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> any(0, cells.size() - 1);
    std::vector<std::pair<int, int>> pairs(starts);
    for (auto& [p, q] : pairs) {
        p = any(random);
        q = any(random);
    }
    std::vector<Found> tried(starts);
    parallel_for(n_jobs, starts, [&](int, std::int64_t s) {
        const auto [p, q] = pairs[s];
        const Quadratic cost =
            loss(gain_of_pair(objective, cells.x[p], cells.y[p], cells.x[q], cells.y[q]));
        tried[s].moments =
            concentrate(cells, cheapest(cells, cost, k), objective, k, tried[s].score).moments;
        return true;
    });
    std::vector<Found> found;
    for (const Found& t : tried) {
        const bool known = std::any_of(found.begin(), found.end(), [&](const Found& f) {
            return std::fabs(f.score - t.score) <= 1e-12 * std::fabs(t.score);
        });
        if (t.score != undefined && !known) found.push_back(t);
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
