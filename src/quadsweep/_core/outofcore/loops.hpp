// The loops over rows of a pass: compiled for each instruction set (see hot_loops.hpp).
#pragma once

#include "leaf.hpp"

namespace quadsweep::outofcore {

// One side of a grid (locator.hpp): what is outside counts to the cells at its ends.
struct GridSide {
    double scale = 0, first = 0, last = 0;

    QUADSWEEP_INLINE int cell(double v) const {
        double at = v * scale;
        at = at > first ? at : first;
        at = at < last ? at : last;
        const int cut = static_cast<int>(at);
        return cut - (at < static_cast<double>(cut) ? 1 : 0) - static_cast<int>(first);
    }
};

struct OutOfCoreLoops {
    // How many rows have a value that is missing.
    int (*missing)(const double* x, const double* y, int size);
    // For each row its cell of a grid, counted by lines of `across` cells.
    void (*grid_cells)(const double* x, const double* y, int size, const GridSide& x_side,
                       const GridSide& y_side, int across, int* cell);
    // Adds each row to its leaf.
    void (*add)(const double* x, const double* y, const int* leaf, int size, Leaf* table);
};

const OutOfCoreLoops& outofcore_loops();

}  // namespace quadsweep::outofcore
