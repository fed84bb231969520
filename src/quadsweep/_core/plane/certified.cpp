#include "certified.hpp"

#include "search.hpp"
#include "shared/methods.hpp"

namespace quadsweep {

CertifiedAnswer certified(const Problem& problem, const CertifiedOptions& options,
                          Control& control) {
    if (problem.objective == Objective::mcd) return least_determinant(problem, options, control);
    return Search(problem, options, control).run();
}

Answer certified_method(const Problem& problem, Control& control) {
    if (problem.objective == Objective::var) return univariate(problem, control);
    return certified(problem, CertifiedOptions{}, control);
}

}  // namespace quadsweep
