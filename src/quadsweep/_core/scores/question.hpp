// The question: can removing up to m items make the test of a coefficient, with robust or clustered
// standard errors, lose or gain significance? docs/theory/scores.md has the proof.
//
// Let u be the residual of the term on the controls, e the residuals, S_g the sum of u e over
// cluster g, and C = u.y. Lost is C <= T |S|, gained is C >= T |S|. T is the critical value times
// the root of the small-sample factor, at the number of rows most favourable to the change.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep::scores {

// Rows are sorted by item, items by unit, units by cluster. An item is removed as a whole. A fixed
// effect belongs to one unit only; the columns of such a unit are centred at its mean.
struct Question {
    int rows = 0, controls = 0;
    std::vector<double> columns;     // row by row: controls, term, outcome, times root weights
    std::vector<double> effect;      // root weights; 0 in units without an effect
    std::vector<int> item_first;     // first row of each item, and the end
    std::vector<int> unit_first;     // first item of each unit, and the end
    std::vector<int> cluster_first;  // first unit of each cluster, and the end
    // If clusters lie inside items and are removed with them (HC: rows), the first row of each, and
    // the end; else empty. In that case each item is one unit and one entry of cluster_first.
    std::vector<int> part_first;
    double exponent = 0;  // of 1 - leverage, which divides a score: HC2 1/2, HC3 1; rows only
    bool gained = false;
    double threshold = 0;      // T
    double error = 0;          // relative error of the columns
    double most_sets = 4'096;  // in a unit; with more, its items are bounded singly

    int items() const { return static_cast<int>(item_first.size()) - 1; }
    int units() const { return static_cast<int>(unit_first.size()) - 1; }
    int clusters() const { return static_cast<int>(cluster_first.size()) - 1; }
    // Whether clusters are removed whole; then their scores leave the sum of squares.
    bool of_parts() const { return !part_first.empty(); }
    bool of_rows() const { return static_cast<int>(part_first.size()) == rows + 1; }
    int scores() const { return of_parts() ? static_cast<int>(part_first.size()) - 1 : clusters(); }
    int columns_with_outcome() const { return controls + 2; }
};

}  // namespace quadsweep::scores
