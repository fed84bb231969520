// The two sweeps of the paper under a lift given as homogeneous coordinates (lifted.hpp).
#pragma once

#include "control.hpp"
#include "lifted.hpp"
#include "points.hpp"

namespace quadsweep {

Answer sweep_lifted(const Problem& problem, const Coordinates& lifted, Control& control);

}  // namespace quadsweep
