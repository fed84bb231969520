// What becomes of a box that could not be closed: two narrower ones, or two that differ in how many
// copies of a point they keep.
#pragma once

#include <memory>
#include <vector>

#include "bound.hpp"
#include "box.hpp"
#include "cells.hpp"
#include "criterion.hpp"

namespace quadsweep {

// Whether only deciding points can close the box. `centre` is the bound at its centre, `worst` the
// choice at its worst corner.
bool wants_points(const Box& box, const Criterion& criterion, const Cells& cells, double centre,
                  const Choice& worst, const Bound& bound);

// The parameter whose width costs more is halved.
void split(std::unique_ptr<Box> box, const Criterion& criterion, const Choice& worst,
           Boxes& children);

// The copies that move the multipliers most are cut in half: at most z of them, or more.
void branch_on_copies(std::unique_ptr<Box> box, const Criterion& criterion, const Cells& cells,
                      Boxes& children);

}  // namespace quadsweep
