// The kd-tree of cells.hpp, over points in any order.
#pragma once

#include <span>

#include "cells.hpp"

namespace quadsweep {

// A point as placed.
struct Entry {
    double x, y;
    int point;  // index of the group
    int weight;
};

// Whether `control`, if there is one, ends what is being done; from the user's own thread.
bool ended(Control* control);

// Fills cells.cell, and puts the entries into the order of the tree. `control` may end it half-way.
void build_tree(std::span<Entry> entries, int n_jobs, Control* control, Cells& cells);

}  // namespace quadsweep
