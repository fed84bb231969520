// What is asked: can the test of a coefficient with robust or clustered standard errors be lost, or
// gained, without up to m items? docs/theory/scores.md has the proof.
//
// With u what the controls leave of the term, e the residuals, and S_g the sum of u e over cluster
// g: lost is C <= T |S|, gained is C >= T |S|, where C = u.y; T is the critical value times the
// root of the factor for small samples, at the numbers of rows that make it easiest.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep::scores {

// Rows in the order of their items, items of their units, units of their clusters. An item goes as
// a whole. Where a unit has an effect it is nobody else's, and the columns are taken about its
// mean.
struct Question {
    int rows = 0, controls = 0;
    std::vector<double> columns;     // row by row: controls, term, outcome, times the root weights
    std::vector<double> effect;      // root weights, or 0 for rows of units without an effect
    std::vector<int> item_first;     // rows of an item, and the end of the last
    std::vector<int> unit_first;     // items of a unit
    std::vector<int> cluster_first;  // units of a cluster
    // Rows of a cluster, where clusters are inside of items and go with them (HC: rows); or empty.
    // Then units are items, and the three above say nothing of clusters.
    std::vector<int> part_first;
    double exponent = 0;  // of 1 - leverage, under every score: 1/2 for HC2, 1 for HC3; rows only
    bool gained = false;
    double threshold = 0;      // T
    double error = 0;          // of the columns, relative to their lengths
    double most_sets = 4'096;  // of the items of one unit: of more, items are looked at singly

    int items() const { return static_cast<int>(item_first.size()) - 1; }
    int units() const { return static_cast<int>(unit_first.size()) - 1; }
    int clusters() const { return static_cast<int>(cluster_first.size()) - 1; }
    // Whether clusters go as a whole: then their scores leave the sum of squares altogether.
    bool of_parts() const { return !part_first.empty(); }
    bool of_rows() const { return static_cast<int>(part_first.size()) == rows + 1; }
    int scores() const { return of_parts() ? static_cast<int>(part_first.size()) - 1 : clusters(); }
    int columns_with_outcome() const { return controls + 2; }
};

}  // namespace quadsweep::scores
