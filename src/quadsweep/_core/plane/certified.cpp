#include "certified.hpp"

#include "plane/wide_listing.hpp"
#include "search.hpp"
#include "shared/methods.hpp"

namespace quadsweep {

// Data too wide for boxes.
static CertifiedAnswer listed(const Problem& problem, const CertifiedOptions& options,
                              Control& control) {
    CertifiedAnswer a;
    static_cast<Answer&>(a) =
        list_wide(problem, options.k_or_more ? problem.size() : problem.k, control);
    a.decided = a.status == Status::optimal;
    if (options.above) {
        const bool passed = a.score > *options.above;
        a.decided |= passed;
        if (!passed) a.inliers.clear();
    }
    return a;
}

CertifiedAnswer certified(const Problem& problem, const CertifiedOptions& options,
                          Control& control) {
    if (problem.points.wide) return listed(problem, options, control);
    if (problem.objective == Objective::mcd) return least_determinant(problem, options, control);
    return Search(problem, options, control).run();
}

Answer certified_method(const Problem& problem, Control& control) {
    if (problem.objective == Objective::var) return univariate(problem, control);
    return certified(problem, CertifiedOptions{}, control);
}

}  // namespace quadsweep
