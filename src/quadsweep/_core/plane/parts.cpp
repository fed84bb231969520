#include "parts.hpp"

#include <algorithm>
#include <cmath>

#include "search/debug_solution.hpp"
#include "tuning.hpp"

namespace quadsweep {

bool Parts::resolve(const std::vector<int>& rows) {
    const int size = static_cast<int>(rows.size());
    if (size < problem_.k) return true;
    if (size > tuning::largest_part * problem_.size() || options_.depth >= tuning::deepest) {
        return false;
    }
    {
        const Lock lock(mutex_);
        if (resolved_.contains(rows)) return true;
    }
    return solve(rows);
}

bool Parts::solve(const std::vector<int>& rows) {
    const Points some = some_of(problem_.points, rows);
    Problem part = problem_;
    part.points = standardise(some.given_x, some.given_y, problem_.objective);
    part.n_jobs = 1;
    CertifiedOptions options;
    options.k_or_more = options_.k_or_more;
    options.depth = options_.depth + 1;
    Control own;
    own.on_tick = [this](const Progress&) { return !halt_(); };
    const CertifiedAnswer found = certified(part, options, own);
    if (!found.inliers.empty()) {
        std::vector<int> subset;
        for (int i : found.inliers) subset.push_back(rows[i]);
#ifdef QUADSWEEP_DEBUG_SOLUTION
        listing_solution = true;  // a proof of its own, like a listing
        known_.offer(subset);
        listing_solution = false;
#else
        known_.offer(subset);
#endif
    }
    if (found.status != Status::optimal) return false;
    // An exact fit ends its part with no bound but 0; here it counts if it is the best.
    const bool fit = problem_.objective == Objective::lts && found.score < 0 && found.bound >= 0;
    if (fit && !found.inliers.empty()) return known_.exact_fit();
    const Lock lock(mutex_);
    if (!found.inliers.empty()) {
        const Objective o = problem_.objective;
        const int unit = value_exponent(part.points, o) - value_exponent(problem_.points, o);
        bound_ = std::max(bound_.load(), std::ldexp(found.bound, unit));
    }
    resolved_.insert(rows);
    return true;
}

}  // namespace quadsweep
