// The two sweeps of the paper under a lift given as homogeneous coordinates (lifted.hpp).
#pragma once

#include "lifted.hpp"
#include "shared/control.hpp"
#include "shared/points.hpp"

namespace quadsweep {

// From which end of the points sorted by distance from a plane the naive sweep takes its first
// others. The sign of a plane is arbitrary, so one direction alone, as published, misses subsets.
enum class Order { ascending, descending, both };

Answer naive_lifted(const Problem& problem, const Coordinates& lifted, Order order,
                    Control& control);
Answer sweep_lifted(const Problem& problem, const Coordinates& lifted, Control& control);

}  // namespace quadsweep
