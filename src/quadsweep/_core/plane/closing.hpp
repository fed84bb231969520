// Closing a box by listing what is left of it, and its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "search/listing.hpp"
#include "selection.hpp"

namespace quadsweep {

// A box's decided copies and some picks among the others; as rows, sorted.
Selection chosen(const Cells& cells, const Box& box, const Picks& picks);
std::vector<int> collect(const Cells& cells, const Box& box, const Picks& picks);
// All rows that a subset of the box may have, sorted.
std::vector<int> rows_of(const Cells& cells, const Box& box);

// Sums of what is kept, and how many copies.
struct Sums {
    Moments moments;
    double kept = 0;
};

// How far sums of what is decided and `need` more may be off, `roundings` of them before.
inline Slack listing_slack(double roundings, std::int64_t need) {
    Slack slack{(roundings + static_cast<double>(std::max<std::int64_t>(need, 64))) * 0x1p-52};
    slack.xx = slack.xy = slack.yy = least_square;
    return slack;
}

// Calls visit(moments, kept, picks) for each way to fill up the box.
template <class Visit>
void list_ways(const Cells& cells, const Undecided& open, std::int64_t need, bool k_or_more,
               const DecidedMoments& kept, Visit visit) {
    const auto add = [&](Sums& to, std::size_t i) {
        to.moments.add(cells.x[open.point[i]], cells.y[open.point[i]]);
        to.kept += 1;
    };
    list_ways(open, need, k_or_more, Sums{kept.moments(), kept.copies()}, add,
              [&](const Sums& s, const Picks& picks) {
                  visit(s.moments, s.kept, picks);
                  return true;
              });
}

}  // namespace quadsweep
