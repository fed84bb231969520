#include "answer.hpp"

#include <algorithm>
#include <cmath>

namespace quadsweep {
namespace {

// What no subset of a closed box passes; rounded upwards, with what scoring may have lost.
double proved(const Problem& problem, const CertifiedOptions& options, const Incumbents& known,
              const Parts& parts) {
    const Incumbent& best = known.best();
    if (problem.k == problem.size() && !options.above) return best.score;
    if (known.exact_fit()) return known.limit();
    const double ulps = best.subset.size() > precise_points ? 64 : 4;
    const double most = std::max(known.target() + known.tol(), parts.bound());
    return std::min(most + ulps * 0x1p-52 * std::fabs(most), std::max(known.limit(), best.score));
}

}  // namespace

void conclude(const Problem& problem, const CertifiedOptions& options, const Control& control,
              const Incumbents& known, const Parts& parts, const Standing& standing,
              CertifiedAnswer& answer) {
    answer.inliers = known.best().subset;
    answer.score = known.best().score;
    const bool found = known.decided();  // a subset above the threshold, not necessarily the best
    // A search that was stopped may still have the tolerance of a worse value.
    const bool fine = known.tol() <= known.tolerance();
    const bool finished = known.exact_fit() || (fine && known.at_limit());
    const bool closed = standing.valid && standing.closed && fine;
    bool complete = !found && (finished || closed);
    answer.bound = known.limit();
    if (complete) {
        answer.bound = proved(problem, options, known, parts);
        // Parts have tolerances of their own, and exact fits.
        complete = finished || parts.bound() <= known.target() + 1.1 * known.tolerance();
    } else if (!found && standing.valid) {
        const double closed_ones = proved(problem, options, known, parts);
        answer.bound =
            std::min(std::max({standing.open, closed_ones, parts.bound()}), known.limit());
    }
    answer.decided = found || complete;
    answer.status = complete ? Status::optimal : control.status(Status::heuristic);
}

double live_bound(const Incumbents& known, const Parts& parts, const Standing& standing) {
    if (!standing.valid) return known.limit();
    return std::min(std::max({standing.open, known.target() + known.tol(), parts.bound()}),
                    known.limit());
}

}  // namespace quadsweep
