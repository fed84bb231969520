// Data too wide for the kernels: all subsets one by one, or a heuristic where there are too many.
#pragma once

#include "shared/control.hpp"
#include "shared/points.hpp"

namespace quadsweep {

// Subsets of problem.k up to `largest` points.
Answer list_wide(const Problem& problem, int largest, Control& control);

}  // namespace quadsweep
