// Concentration steps (see concentrate.hpp) from many starts: good subsets in a time linear in n,
// and no proof.
//
// A start is a gain made from two random points: for r2, r and lts minus the squared distance from
// the line through them, for the others, whose quadratic form is fixed, the form about their
// middle.
#include "concentrate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "shared/methods.hpp"
#include "shared/parallel.hpp"

namespace quadsweep {
namespace {

constexpr int default_starts = 500;
constexpr int subsample_size = 2000;  // starts are tried on at most this many points
constexpr int polished = 10;          // starts that go on until they stop rising
constexpr int lifted_to_all = 2;      // of these, those that go from the subsample to all points

// k points on which every objective has a value, if there are any: with point 0, one that differs
// from it in x and one that differs in y, both columns vary.
std::vector<int> any_subset(const Points& points, int k) {
    auto differs = [](std::span<const double> v) {
        const auto it = std::find_if(v.begin(), v.end(), [&](double t) { return t != v[0]; });
        return it == v.end() ? 0 : static_cast<int>(it - v.begin());
    };
    std::vector<bool> taken(points.size(), false);
    taken[0] = taken[differs(points.x)] = taken[differs(points.y)] = true;
    int missing = k - static_cast<int>(std::count(taken.begin(), taken.end(), true));
    std::vector<int> chosen;
    for (int i = 0; i < points.size() && static_cast<int>(chosen.size()) < k; ++i) {
        if (taken[i] || missing-- > 0) chosen.push_back(i);
    }
    return chosen;
}

// Every so-manieth point, with a random offset in each stretch: a subsample spread over the order
// in which the points came.
std::vector<int> subsample(int n, int size, std::mt19937_64& random) {
    std::vector<int> rows(size);
    for (int i = 0; i < size; ++i) {
        const auto from = static_cast<std::uint64_t>(n) * i / size;
        const auto to = static_cast<std::uint64_t>(n) * (i + 1) / size;
        rows[i] = static_cast<int>(from + random() % (to - from));
    }
    return rows;
}

std::vector<int> all_rows(int n) {
    std::vector<int> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

// One start: two steps on the subsample. What is kept is the gain, which all points can be asked.
struct Start {
    double score = undefined;
    Gain gain;
};

Start try_pair(const Points& points, Objective objective, int k, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto n = static_cast<std::uint64_t>(points.size());
    const int i = static_cast<int>(random() % n), j = static_cast<int>(random() % n);
    Start start{undefined,
                gain_of_pair(objective, points.x[i], points.y[i], points.x[j], points.y[j])};
    for (int step = 0; step < 3; ++step) {
        const std::vector<int> subset = largest_gains(points, start.gain, k);
        const double score = rough_score(points, subset, objective);
        if (step > 0 && !(score > start.score)) break;
        start.score = score;
        const auto next = gain_at(points, subset, objective);
        if (!next) break;
        start.gain = *next;
    }
    return start;
}

template <class Body>
void attended_for(int n_jobs, std::int64_t count, Control& control, Body&& body) {
    parallel_for(n_jobs, count, [&](int worker, std::int64_t task) {
        const Halted halted = [&control, worker] {
            if (worker == 0) control.look([] { return Progress{}; });
            return control.stopped();
        };
        body(task, halted);
        return !halted();
    });
}

// The `keep` best starts, each followed until its score stops rising.
std::vector<Incumbent> polish(const Points& points, Objective objective, int k,
                              std::vector<Start> starts, int keep, int n_jobs, Control& control) {
    std::erase_if(starts, [](const Start& s) { return s.score == undefined; });
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.score > b.score; });
    starts.resize(std::min<std::size_t>(starts.size(), keep));
    std::vector<Incumbent> found(starts.size());
    attended_for(n_jobs, std::ssize(starts), control, [&](std::int64_t s, const Halted& halted) {
        const std::vector<int> subset = largest_gains(points, starts[s].gain, k);
        found[s] = concentrate_from(points, objective, k, subset, halted);
    });
    std::erase_if(found, [](const Incumbent& f) { return f.score == undefined; });
    return found;
}

}  // namespace

// The quadratic forms of `Objective._gradient` in objectives.py.
std::optional<Gain> quadratic_form(Objective objective, const Centred& m) {
    Gain g;
    switch (objective) {
        case Objective::r2:
        case Objective::r: {
            if (!(m.a > 0 && m.b > 0)) return std::nullopt;
            const double sign = objective == Objective::r || m.c >= 0 ? 1 : -1;
            g.uu = -sign * m.c / m.a;
            g.uw = 2 * sign;
            g.ww = -sign * m.c / m.b;
            return g;
        }
        case Objective::cov:
            g.uw = 1;
            return g;
        case Objective::dv:
            g.uu = 1;
            g.ww = -1;
            return g;
        case Objective::tv:
            g.uu = g.ww = -1;
            return g;
        case Objective::var:
            g.uu = -1;
            return g;
        case Objective::lts:
            break;
        case Objective::mcd: {
            const double det = m.a * m.b - m.c * m.c;
            if (!(det > 0)) return std::nullopt;
            g.uu = -m.b / det;
            g.uw = 2 * m.c / det;
            g.ww = -m.a / det;
            return g;
        }
    }
    const double slope = m.a > 0 ? m.c / m.a : 0;
    g.uu = -slope * slope;
    g.uw = 2 * slope;
    g.ww = -1;
    return g;
}

static bool fits_a_line(Objective objective) {
    return objective == Objective::r2 || objective == Objective::r || objective == Objective::lts;
}

// r wants a rising line: a falling one is mirrored.
Gain gain_of_pair(Objective objective, double x1, double y1, double x2, double y2) {
    const double dx = x2 - x1, dy = y2 - y1;
    Gain g = *quadratic_form(objective, {1, 1, 0});
    g.mx = x1 + dx / 2;
    g.my = y1 + dy / 2;
    const double scale = std::fmax(std::fabs(dx), std::fabs(dy));
    if (fits_a_line(objective) && scale > 0) {
        const double p = dy / scale, q = dx / scale;
        g.uu = -p * p;
        g.uw = objective == Objective::r ? 2 * std::fabs(p * q) : 2 * p * q;
        g.ww = -q * q;
    }
    if (objective == Objective::mcd && scale > 0) {
        // An ellipse along the pair.
        constexpr double along = 0.125;
        const double p = dy / scale, q = dx / scale;
        g.uu = -p * p - along * q * q;
        g.uw = 2 * (1 - along) * p * q;
        g.ww = -q * q - along * p * p;
    }
    return g;
}

static Mean mean_of(const Points& points, std::span<const int> subset) {
    const double k = static_cast<double>(subset.size());
    Mean m{0, 0};
    for (int i : subset) {
        m.x += points.x[i] / k;
        m.y += points.y[i] / k;
    }
    return m;
}

std::optional<Gain> gain_at(const Points& points, std::span<const int> subset,
                            Objective objective) {
    const double k = static_cast<double>(subset.size());
    const auto [mx, my] = mean_of(points, subset);
    Moments s;
    for (int i : subset) s.add(points.x[i] - mx, points.y[i] - my);
    auto gain = quadratic_form(objective, centred(s, k));
    if (gain) {
        gain->mx = mx;
        gain->my = my;
    }
    return gain;
}

std::vector<int> largest_gains(const Points& points, const Gain& gain, int k) {
    const int n = points.size();
    std::vector<double> gains(n);
    for (int i = 0; i < n; ++i) {
        const double g = gain(points.x[i], points.y[i]);
        gains[i] = g == g ? g : -infinity;
    }
    std::vector<double> order = gains;
    std::nth_element(order.begin(), order.begin() + (k - 1), order.end(), std::greater<>());
    const double least = order[k - 1];
    auto above = std::count_if(gains.begin(), gains.end(), [&](double g) { return g > least; });
    auto tied = k - above;
    std::vector<int> chosen;
    chosen.reserve(k);
    for (int i = 0; i < n; ++i) {
        if (gains[i] > least || (gains[i] == least && tied-- > 0)) chosen.push_back(i);
    }
    return chosen;
}

Incumbent concentrate_from(const Points& points, Objective objective, int k,
                           std::span<const int> start, const Halted& halted) {
    Incumbent best;
    if (start.empty()) return best;
    if (std::ssize(start) == k) best.offer(accurate_score(points, start, objective), start);
    auto gain = gain_at(points, start, objective);
    while (gain && !halted()) {
        const std::vector<int> subset = largest_gains(points, *gain, k);
        Incumbent next;
        next.offer(accurate_score(points, subset, objective), subset);
        if (!(next.score > best.score) && overshoots(objective)) {
            settle(*gain, mean_of(points, subset), [&](const Gain& about) {
                const std::vector<int> here = largest_gains(points, about, k);
                next.offer(accurate_score(points, here, objective), here);
                return mean_of(points, here);
            });
        }
        if (!(next.score > best.score)) break;
        best = std::move(next);
        gain = gain_at(points, best.subset, objective);
    }
    return best;
}

Incumbent concentrate_search(const Problem& problem, int starts, Control& control) {
    const int n = problem.size();
    const Objective objective = problem.objective;
    std::mt19937_64 random(problem.seed);
    const bool few = n <= subsample_size;
    const std::vector<int> rows = few ? all_rows(n) : subsample(n, subsample_size, random);
    const Points some = few ? problem.points : some_of(problem.points, rows);
    const double share = static_cast<double>(problem.k) / n;
    const int k = few ? problem.k : std::max(3, static_cast<int>(share * subsample_size + 0.5));

    Incumbent best;
    const std::vector<int> legal = any_subset(problem.points, problem.k);
    best.offer(accurate_score(problem.points, legal, objective), legal);
    std::vector<Start> tried(starts), finalists;
    const std::uint64_t seed = random();
    attended_for(problem.n_jobs, starts, control, [&](std::int64_t s, const Halted&) {
        tried[s] = try_pair(some, objective, k, seed + static_cast<std::uint64_t>(s));
    });
    for (const Incumbent& found :
         polish(some, objective, k, tried, polished, problem.n_jobs, control)) {
        if (few) {
            best.merge(found);
        } else if (const auto gain = gain_at(some, found.subset, objective)) {
            finalists.push_back({found.score, *gain});
        }
    }
    for (const Incumbent& found : polish(problem.points, objective, problem.k, finalists,
                                         lifted_to_all, problem.n_jobs, control))
        best.merge(found);
    return best;
}

Answer concentrate(const Problem& problem, Control& control) {
    const Incumbent best = concentrate_search(problem, default_starts, control);
    Answer answer;
    answer.inliers = best.subset;
    answer.score = best.score;
    answer.bound = trivial_bound(problem);
    answer.status = control.status(Status::heuristic);
    if (problem.k == problem.size() && answer.score != undefined) {  // one subset, the best
        answer.status = Status::optimal;
        answer.bound = answer.score;
    }
    answer.nodes = default_starts;
    return answer;
}

}  // namespace quadsweep
