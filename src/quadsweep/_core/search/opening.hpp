// Cells of a tree in a box, opened coarse to fine.
//
// A cell that is not opened is replaced by two weights at the ends of its range of costs, with the
// same mean. This is a chord above a convex function, so the bound stays valid. Shrinking every
// cell to its mean gives more than the true bound (Jensen), which limits the loss.
//
// A tree has `cell`: nodes with first, last (a range of points), left (the first of two children,
// which are neighbours), leaf(), and unloaded(): a leaf whose points are not in memory.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "decisions.hpp"

namespace quadsweep {

// Costs at the low and high ends of n cells, and the weights there.
struct Ends {
    const double *low, *high, *low_weight, *high_weight;
    std::size_t n;
};

inline void shrink_to_means(const Ends& ends, double* low, double* high, double* low_weight,
                            double* high_weight) {
    for (std::size_t j = 0; j < ends.n; ++j) {
        const double weight = ends.low_weight[j] + ends.high_weight[j];
        const double sum = ends.low_weight[j] * ends.low[j] + ends.high_weight[j] * ends.high[j];
        low[j] = high[j] = sum / weight;
        low_weight[j] = high_weight[j] = weight / 2;
    }
}

// How much each cell may lower the bound at a threshold: the chord minus the value at the mean. A
// gap never shrinks.
inline void widen_gaps(const Ends& ends, double lambda, std::vector<double>& gap) {
    for (std::size_t j = 0; j < ends.n; ++j) {
        const double below = ends.low_weight[j] * (lambda - ends.low[j]);
        const double above = ends.high_weight[j] * (ends.high[j] - lambda);
        gap[j] = std::max(gap[j], std::min(below, above));
    }
}

// Replaces a cell by its two halves, or a leaf by its points.
template <class Tree>
void open_cell(const Tree& tree, std::span<const int> copies, int at, Undecided& open,
               std::vector<int>& finer) {
    const auto& c = tree.cell[at];
    if (c.unloaded()) {
        finer.push_back(at);
    } else if (!c.leaf()) {
        finer.insert(finer.end(), {c.left, c.left + 1});
    } else {
        for (int p = c.first; p < c.last; ++p) {
            open.point.push_back(p);
            open.copies.push_back(copies[p]);
        }
    }
}

// Opens the cells with the largest gaps: at least `opened_share` of the mean positive gap. Returns
// false if it opens none.
template <class Tree>
bool open_cells(const Tree& tree, std::span<const int> copies, const std::vector<double>& gap,
                Undecided& open) {
    constexpr double opened_share = 0.25;  // plane/tuning.hpp's tenth: 932; 0.05: 1,053; 1: 1,020
    double total = 0;
    int straddling = 0;
    for (double g : gap) {
        if (g > 0) {
            total += g;
            ++straddling;
        }
    }
    if (straddling == 0) return false;
    const double least = opened_share * total / straddling;
    std::vector<int> finer;
    bool opened = false;
    for (std::size_t j = 0; j < gap.size(); ++j) {
        const int at = open.cell[j];
        if (gap[j] < least || gap[j] == 0 || tree.cell[at].unloaded()) {
            finer.push_back(at);
        } else {
            open_cell(tree, copies, at, open, finer);
            opened = true;
        }
    }
    open.cell = std::move(finer);
    return opened;
}

template <class Tree>
void open_level(const Tree& tree, std::span<const int> copies, Undecided& open) {
    std::vector<int> finer;
    for (int at : open.cell) open_cell(tree, copies, at, open, finer);
    open.cell = std::move(finer);
}

}  // namespace quadsweep
