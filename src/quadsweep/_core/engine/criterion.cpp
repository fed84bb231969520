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

std::vector<Offset> offsets(const Box& box, PartCounts parts) {
    const int cut[] = {box.half[0] > 0 ? parts.of[0] : 0, parts.of[1]};
    Offset at{};
    for (int i = 0; i < 2; ++i) {
        // An ulp more, as nodes are rounded.
        const double more = 0x1p-51 * (std::fabs(box.centre[i]) + box.half[i]);
        at.eta[i] = cut[i] > 0 ? box.half[i] / cut[i] + more : 0;
    }
    const auto place = [&](int i, int j) {
        return cut[i] > 0 ? box.half[i] * (2.0 * j / cut[i] - 1) : 0;
    };
    std::vector<Offset> out;
    out.reserve(static_cast<std::size_t>((cut[0] + 1) * (cut[1] + 1)));
    for (int j = 0; j <= cut[0]; ++j) {
        at.d[0] = place(0, j);
        for (int l = 0; l <= cut[1]; ++l) {
            at.d[1] = place(1, l);
            out.push_back(at);
        }
    }
    return out;
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
