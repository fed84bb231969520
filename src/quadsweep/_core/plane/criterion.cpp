#include "criterion.hpp"

#include <cmath>
#include <limits>

#include "criteria/criteria.hpp"

namespace quadsweep {

Box make_root(int frame, double lo1, double hi1, double lo2, double hi2) {
    Box box;
    box.frame = frame;
    box.centre[0] = lo1 + (hi1 - lo1) / 2;
    box.centre[1] = lo2 + (hi2 - lo2) / 2;
    // Rounding may not leave an edge uncovered.
    box.half[0] = (hi1 - lo1) / 2 * (1 + 1e-12) + 1e-14 * std::fabs(box.centre[0]);
    box.half[1] = (hi2 - lo2) / 2 * (1 + 1e-12) + 1e-14 * std::fabs(box.centre[1]);
    box.lambda = std::numeric_limits<double>::quiet_NaN();  // not known yet
    return box;
}

std::unique_ptr<Criterion> make_criterion(Objective objective, const Ranges& ranges,
                                          const Centred& good, double score, double tol) {
    switch (objective) {
        case Objective::r2:
            return correlation_above(ranges, true, score, tol);
        case Objective::r:
            if (score + tol >= 0) return correlation_above(ranges, false, score, tol);
            return correlation_below(ranges, good, score, tol);
        case Objective::cov:
            return product_above(ranges, good, axis_x(), axis_y(), score, tol);
        case Objective::dv:
            return product_above(ranges, good, axis_x() - axis_y(), axis_x() + axis_y(), score,
                                 tol);
        case Objective::tv:
        case Objective::var:
            return spread_below(ranges, score, tol);
        case Objective::lts:
        case Objective::mcd:  // has a search of its own, ellipse/
            break;
    }
    return residuals_below(ranges, score, tol);
}

}  // namespace quadsweep
