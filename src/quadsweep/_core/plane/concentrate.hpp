// Concentration steps, for the method of that name and for any search that wants an incumbent.
//
// To first order a point at (u, w) from the mean of a subset changes the score by a quadratic
//
//   gain = g_uu u^2 + g_uw u w + g_ww w^2      (r2: 2 uw/c - u^2/a - w^2/b, times |c|)
//
// A step keeps the k points with the largest gain. For tv, var and lts it can only raise the
// score; for the others it nearly always does. Where it does not, r and r2 end the walk; cov and
// dv, which want their points far from the mean, look for a step that carries the mean less far.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "shared/control.hpp"
#include "shared/points.hpp"

namespace quadsweep {

struct Gain {
    double mx = 0, my = 0;
    double uu = 0, uw = 0, ww = 0;

    double operator()(double x, double y) const {
        const double u = x - mx, w = y - my;
        return (uu * u + uw * w) * u + ww * w * w;
    }
};

// The gain's quadratic form at a subset with these centred sums, about (0, 0).
std::optional<Gain> quadratic_form(Objective objective, const Centred& m);

// The gain that a search may start from, given two points: minus the squared distance from the line
// through them or, for objectives whose form is fixed, the form about their middle.
Gain gain_of_pair(Objective objective, double x1, double y1, double x2, double y2);

// The gain at a subset; nothing where the score is undefined there.
std::optional<Gain> gain_at(const Points& points, std::span<const int> subset, Objective objective);

// The k points of largest gain, sorted by index; ties go to the smaller index.
std::vector<int> largest_gains(const Points& points, const Gain& gain, int k);

struct Mean {
    double x, y;
};

inline bool overshoots(Objective objective) {
    return objective == Objective::cov || objective == Objective::dv;
}

// Between the mean of a gain and one too far: bisection for the place where the points chosen about
// it have it as their mean. choose(gain) -> Mean of the points chosen
template <class Choose>
void settle(Gain gain, const Mean& too_far, Choose&& choose) {
    constexpr int steps = 20;
    const double x0 = gain.mx, y0 = gain.my, dx = too_far.x - x0, dy = too_far.y - y0;
    double lo = 0, hi = 1;
    for (int step = 0; step < steps; ++step) {
        const double at = lo + (hi - lo) / 2;
        gain.mx = x0 + at * dx;
        gain.my = y0 + at * dy;
        const Mean here = choose(gain);
        const bool ahead = (here.x - gain.mx) * dx + (here.y - gain.my) * dy > 0;
        (ahead ? lo : hi) = at;
    }
}

using Halted = std::function<bool()>;

// Steps from a subset of any size until the score of k points stops rising or `halted`, asked
// before each step, says so. The start itself counts if it has k points.
Incumbent concentrate_from(const Points& points, Objective objective, int k,
                           std::span<const int> start, const Halted& halted);

// Steps from `starts` random pairs of points, on a subsample where there are many points, the best
// few polished on all of them. Depends on the seed alone, not on n_jobs.
Incumbent concentrate_search(const Problem& problem, int starts, Control& control);

}  // namespace quadsweep
