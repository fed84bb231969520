#include "incumbents.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "shared/parallel.hpp"

namespace quadsweep {
namespace {

constexpr double nearby = 0.2;  // of a spread: subsets this close lead to the same one

struct Found {
    double score;
    Moments moments;
};

bool near(double p, double q) { return std::fabs(p - q) <= nearby * (p + q) / 2; }

// Two subsets of a sample that all points would draw to the same place.
bool alike(const Found& f, const Found& g, double k) {
    const Centred p = centred(f.moments, k), q = centred(g.moments, k);
    const double dx = (f.moments.x - g.moments.x) / k, dy = (f.moments.y - g.moments.y) / k;
    const double a = (p.a + q.a) / 2, b = (p.b + q.b) / 2;
    return dx * dx * k <= nearby * nearby * a && dy * dy * k <= nearby * nearby * b &&
           near(p.a, q.a) && near(p.b, q.b) && std::fabs(p.c - q.c) <= nearby * std::sqrt(a * b);
}

}  // namespace

std::vector<Moments> promising(const Cells& cells, Objective objective, int k, int starts,
                               std::uint64_t seed, int n_jobs, const Wanted& wanted) {
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
    std::erase_if(tried, [](const Found& t) { return t.score == undefined; });
    std::stable_sort(tried.begin(), tried.end(),
                     [](const Found& f, const Found& g) { return f.score > g.score; });
    std::vector<Found> found;
    for (const Found& t : tried) {
        const bool known = std::any_of(found.begin(), found.end(), [&](const Found& f) {
            return wanted.sampled ? alike(f, t, k)
                                  : std::fabs(f.score - t.score) <= 1e-12 * std::fabs(t.score);
        });
        if (!known) found.push_back(t);
    }
    // r2 is the better of two problems. On a sample either may look better by chance.
    if (wanted.sampled && objective == Objective::r2 && found.size() > 1) {
        const bool rises = centred(found[0].moments, k).c > 0;
        const auto other = std::find_if(found.begin(), found.end(), [&](const Found& f) {
            return (centred(f.moments, k).c > 0) != rises;
        });
        if (other != found.end()) std::rotate(found.begin() + 1, other, other + 1);
    }
    if (found.size() > wanted.most) found.resize(wanted.most);
    std::vector<Moments> out;
    for (const Found& f : found) out.push_back(f.moments);
    return out;
}

Points sample(const Points& points, int most, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> any(0, points.size() - 1);
    std::vector<int> rows(most);
    for (int& row : rows) row = any(random);
    return some_of(points, rows);
}

}  // namespace quadsweep
