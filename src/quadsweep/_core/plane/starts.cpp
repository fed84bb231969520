#include "starts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "shared/parallel.hpp"
#include "tuning.hpp"

namespace quadsweep {
namespace {

using tuning::nearby;

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

struct Wanted {
    std::size_t most;  // subsets
    bool sampled;      // from a sample: one of each kind is enough, and its score only a hint
};

std::vector<Found> concentrated(const Cells& cells, Objective objective, int k, int starts,
                                std::uint64_t seed, int n_jobs) {
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
    return tried;
}

// Moments of good subsets (scaled to k points), best first, in the coordinates of `cells`.
std::vector<Moments> promising(std::vector<Found> tried, Objective objective, int k,
                               const Wanted& wanted) {
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

// Some of the points, drawn with repetition, as points of their own.
Points sample(const Points& points, int most, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> any(0, points.size() - 1);
    std::vector<int> rows(most);
    for (int& row : rows) row = any(random);
    return some_of(points, rows);
}

// Without a tree: the k cheapest points of the gradient at `kept` points with these moments.
std::vector<int> one_step(const Problem& problem, const Moments& m, int kept) {
    std::optional<Gain> gain = quadratic_form(problem.objective, centred(m, kept));
    if (!gain) return {};
    gain->mx = m.x / kept;
    gain->my = m.y / kept;
    std::vector<std::pair<double, int>> cost(problem.size());
    for (int i = 0; i < problem.size(); ++i) {
        cost[i] = {-(*gain)(problem.points.x[i], problem.points.y[i]), i};
    }
    std::nth_element(cost.begin(), cost.begin() + (problem.k - 1), cost.end());
    std::vector<int> subset(problem.k);
    for (int i = 0; i < problem.k; ++i) subset[i] = cost[i].second;
    std::sort(subset.begin(), subset.end());
    return subset;
}

// So many points that `sample_kept` of them would be kept.
int sample_size(int n, int k) {
    const double wanted = static_cast<double>(tuning::sample_kept) * n / k;
    return static_cast<int>(
        std::clamp(wanted, 1.0 * tuning::sample_points, 1.0 * tuning::most_sampled));
}

int shrunk(int k, int sampled, int n) {
    return std::max(3, static_cast<int>(std::lround(static_cast<double>(k) * sampled / n)));
}

// Step by step together, so that those left behind are given up: walks that end at the same place
// cost one of them. Steps do not depend on the threads, and neither does the answer.
std::vector<Walk> race(const Problem& problem, const Cells& cells, const std::vector<Moments>& good,
                       int jobs, Control& control, const Incumbents& known) {
    std::vector<Walk> walks;
    for (const Moments& m : good) {
        Selection from;
        from.moments = m;
        walks.emplace_back(cells, problem.objective, problem.k, std::move(from));
    }
    std::vector<char> going(walks.size(), 1);
    for (bool any = !walks.empty(); any;) {
        parallel_for(jobs, std::ssize(walks), [&](int, std::int64_t i) {
            if (going[i] != 0) going[i] = walks[i].step() ? 1 : 0;
            return true;
        });
        double best = undefined;
        for (const Walk& w : walks) best = std::max(best, w.score());
        any = false;
        for (std::size_t i = 0; i < walks.size(); ++i) {
            if (walks[i].hopeless(best)) going[i] = 0;
            any |= going[i] != 0;
        }
        control.look([&] { return Progress{known.target(), known.limit(), 0, 0}; });
        if (control.stopped()) break;
    }
    return walks;
}

}  // namespace

std::vector<Moments> promising_moments(const Cells& cells, Objective objective, int k,
                                       std::uint64_t seed, int n_jobs) {
    return promising(concentrated(cells, objective, k, tuning::sampled_starts, seed, n_jobs),
                     objective, k, {tuning::finalists, true});
}

void offer_starts(const Problem& problem, const CertifiedOptions& options, Control& control,
                  Placement& placement, Incumbents& known) {
    const int n = problem.size(), k = problem.k;
    std::vector<int> everything(n);
    std::iota(everything.begin(), everything.end(), 0);
    if (k == n || options.k_or_more) known.offer(everything);
    for (const auto& start : options.starts) known.offer(start);
    if (k == n) return;

    const bool small = n <= tuning::sample_points;
    const int jobs = n <= tuning::serial_points ? 1 : problem.n_jobs;
    const int sampled = sample_size(n, k);
    const Points few = small ? Points{} : sample(problem.points, sampled, problem.seed);
    const Points& seen = small ? problem.points : few;
    const Cells rough = make_cells(seen, placing(seen), 1);
    const int kept = small ? k : shrunk(k, sampled, n);
    const int usual = small ? tuning::few_starts : tuning::sampled_starts;
    const int lines = options.starting_lines > 0 ? options.starting_lines : usual;
    std::vector<Moments> good = promising(
        concentrated(rough, problem.objective, kept, lines, problem.seed, jobs), problem.objective,
        kept, {small ? tuning::few_finalists : tuning::finalists, !small});
    const bool correlation = is_correlation(problem.objective);
    const Placing at =
        good.empty() ? placing(problem.points) : about(problem.points, good[0], kept, correlation);
    if (!placement.move(problem, at, control)) {
        if (!good.empty()) known.offer(one_step(problem, good[0], kept));
        if (known.empty() && !options.above) known.offer_any();
        return;
    }
    for (Moments& m : good) m = placement.translate(problem.points, m, kept, k);
    const std::vector<Walk> walks = race(problem, placement.cells, good, jobs, control, known);
    std::vector<Polished> ends;
    for (const Walk& w : walks) ends.push_back({w.at(), w.score()});
    if (!small) {  // the best first: few of the others are then worth an exact score
        std::stable_sort(ends.begin(), ends.end(),
                         [](const Polished& p, const Polished& q) { return p.score > q.score; });
    }
    for (const Polished& end : ends) known.offer(end);
    for (const auto& start : options.starts) {
        known.polish(placement.moments_of(problem.points, start));
    }
    if (known.empty() && !options.above) known.offer_any();
}

}  // namespace quadsweep
