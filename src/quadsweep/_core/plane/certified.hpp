// The certified engine: branch and bound over the parameters of a criterion (criterion.hpp).
#pragma once

#include <optional>
#include <vector>

#include "shared/control.hpp"
#include "shared/points.hpp"

namespace quadsweep {

struct CertifiedOptions {
    bool k_or_more = false;                // k or more points, instead of exactly k
    std::optional<double> above;           // only ask whether some subset scores more than this
    std::vector<std::vector<int>> starts;  // subsets to start from
    int starting_lines = 0;                // random starts; 0 is the default number
    std::int64_t enumeration_limit = 200;  // subsets of a box that are listed rather than split
    bool cells = true;                     // false: point by point, for checks
    int depth = 0;                         // of a part of the points, solved by itself
};

struct CertifiedAnswer : Answer {
    double n_evaluations = 0;  // points and cells costed
    bool decided = true;  // with `above`: whether the question is answered; inliers empty: "no"
};

CertifiedAnswer certified(const Problem& problem, const CertifiedOptions& options,
                          Control& control);

// What it asks for mcd, which has boxes of its own: see ellipse/.
CertifiedAnswer least_determinant(const Problem& problem, const CertifiedOptions& options,
                                  Control& control);

}  // namespace quadsweep
