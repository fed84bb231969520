// Closing a box by listing: all ways to fill up the subset from the undecided copies.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "box.hpp"
#include "cells.hpp"

namespace quadsweep {

// Number of ways to keep `need` (or, with at_least, `need` or more) of the copies; stops counting
// beyond `most`.
std::int64_t ways(const Undecided& open, int need, bool at_least, std::int64_t most);

// Calls visit(moments, kept, picks) for each of them, with the decided copies included.
using Picks = std::vector<Decided::Copies>;
void for_each_way(const Box& box, const Cells& cells, bool at_least,
                  const std::function<void(const Moments&, double, const Picks&)>& visit);

}  // namespace quadsweep
