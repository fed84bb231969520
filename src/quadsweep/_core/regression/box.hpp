// A box of the search: a rectangle of theta in one frame, and what is already decided for all
// subsets whose own theta lies in it.
#pragma once

#include <memory>
#include <vector>

#include "gram.hpp"
#include "search/decisions.hpp"

namespace quadsweep::regression {

struct Box {
    int frame = 0;  // theta[frame] = 1
    double centre[most_searched] = {}, half[most_searched] = {};
    // A box of fits (form.hpp, `below`): minus the coefficients of Z in those of Y + x and of Y -
    // x. Then centre and half are what they come to for the tau chosen last.
    bool of_fits = false;
    double tau = 1;
    double fit[2][most_searched] = {}, fit_half[2][most_searched] = {};
    // Guesses from the parent: the free multipliers, those of the normal equations as coefficients
    // of the left factor (bound.hpp), the threshold at its centre.
    double g[most_searched] = {}, left[most_searched] = {};
    double lambda = 0;
    // Mean squares of what a unit of each parameter changes costs by that are near the threshold.
    double change[most_searched] = {};
    bool guessed = false;     // whether they are worth starting from
    double upper = infinity;  // no subset of the box scores more
    double missing = 0;       // by how much the bound failed to close it
    int depth = 0;

    Undecided open;
    int need = 0;  // units still to be kept
    int kept_units = 0;
    KeptGram kept;
    std::shared_ptr<const Decided> decided;
};
inline double bytes(const Box& box) { return sizeof(Box) + bytes(box.open, box.decided.get()); }
using Boxes = std::vector<std::unique_ptr<Box>>;

}  // namespace quadsweep::regression
