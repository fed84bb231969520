// Climbs a concave function of one multiplier, given its value and slope, by a bracket and secants;
// stops when a parabola promises less than a few per cent of the value.
#pragma once

#include <algorithm>
#include <cmath>

#include "plane/criterion.hpp"
#include "plane/tuning.hpp"

namespace quadsweep {

// `at` and `curvature` (the slope's derivative, < 0) start from the parent's and are left at the
// best point found; a positive curvature is a guess at its size, not to be relied on for stopping.
// A kink may leave a curvature that promises nothing: no more than `most` of it is believed.
//
// evaluate(at, slope) -> Choice
template <class Evaluate>
Choice ascend(double& at, double& curvature, double most, Evaluate&& evaluate) {
    Choice best;
    double chosen = at, lo = -infinity, hi = infinity, s_lo = 0, s_hi = 0, stride = 1;
    double last = 0, last_slope = 0;
    for (int step = 0; step < tuning::ascent_steps; ++step) {
        double slope = 0;
        const Choice choice = evaluate(at, slope);
        if (choice.value > best.value) {
            best = choice;
            chosen = at;
        }
        if (slope == 0) break;
        if (step > 0 && at != last && slope != last_slope) {
            curvature = std::min((slope - last_slope) / (at - last), -1e-300);
        }
        const double believed = std::min(std::fabs(curvature), most);
        const double worth = tuning::ascent_share * believed * std::fabs(best.value);
        if (curvature < 0 && slope * slope <= worth) break;
        last = at;
        last_slope = slope;
        if (slope > 0) {
            lo = at;
            s_lo = slope;
        } else {
            hi = at;
            s_hi = slope;
        }
        if (lo > -infinity && hi < infinity) {
            at = lo + (hi - lo) * (s_lo / (s_lo - s_hi));
            if (!(at > lo && at < hi)) break;
        } else {
            at += stride * slope / believed;
            stride *= 2;
        }
    }
    at = chosen;
    return best;
}

}  // namespace quadsweep
