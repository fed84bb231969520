// Where a search has put the points: a good subset at the origin and, for r and r2, with unit
// spread, so that its costs lose nothing to rounding; near-exact fits as residuals from their line.
#pragma once

#include <optional>
#include <vector>

#include "cells.hpp"
#include "ranges.hpp"

namespace quadsweep {

inline bool is_correlation(Objective o) { return o == Objective::r2 || o == Objective::r; }

struct Placement {
    Placing at;
    Cells cells;
    Ranges ranges{};
    double unit = 1;  // of a score in these coordinates

    // False if `control` ended it half-way: then nothing is placed.
    bool move(const Problem& problem, const Placing& to, Control& control);
    bool ready() const { return !cells.cell.empty(); }
    Moments moments_of(const Points& points, const std::vector<int>& subset) const;
    // Moments of `kept` points in standardised coordinates, here and blown up to k points.
    Moments translate(const Points& points, const Moments& m, int kept, int k) const;
};

// At the mean of k points with these moments in standardised coordinates and, with `rescale`, in
// units of their spread.
Placing about(const Points& points, const Moments& moments, double k, bool rescale);

// Near-exact fits need residuals whose rounding is their own: y less the best line. And a cluster
// far from where the points are placed needs to be near the origin. None where `now` will do.
std::optional<Placing> closer(const Problem& problem, const Placement& now,
                              const std::vector<int>& best, double score);

}  // namespace quadsweep
