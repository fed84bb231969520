// Closing a box by listing: all ways to fill up the subset from the undecided copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "selection.hpp"

namespace quadsweep {

// Number of ways to keep `need` (or, with at_least, `need` or more) of the copies; stops counting
// beyond `most`.
std::int64_t ways(const Undecided& open, std::int64_t need, bool at_least, std::int64_t most);

using Picks = std::vector<Decided::Copies>;

// A box's decided copies and some picks among the others; as rows, sorted.
Selection chosen(const Cells& cells, const Box& box, const Picks& picks);
std::vector<int> collect(const Cells& cells, const Box& box, const Picks& picks);
// All rows that a subset of the box may have, sorted.
std::vector<int> rows_of(const Cells& cells, const Box& box);
// C(n, k), or infinity if it is more than can be listed.
double subsets(int n, int k);

// Calls visit(moments, kept, picks) for each of them, with the decided copies included.
template <class Visit>
class Lister {
  public:
    Lister(const Box& box, const Cells& cells, bool at_least, Visit visit)
        : box_(box), cells_(cells), at_least_(at_least), visit_(visit) {
        // left_[i]: copies available from item i on.
        left_.assign(box.open.point.size() + 1, 0);
        for (std::size_t i = box.open.point.size(); i-- > 0;) {
            left_[i] = left_[i + 1] + box.open.copies[i];
        }
    }
    void run() {
        if (box_.need <= left_[0] && (box_.need >= 0 || at_least_)) {
            descend(0, box_.need, box_.kept.moments(), box_.kept.copies());
        }
    }

  private:
    void descend(std::size_t i, std::int64_t need, const Moments& s, double kept) {
        const bool rest_out = need == 0 && !at_least_;
        if (i == box_.open.point.size() || rest_out) {
            visit_(s, kept, picks_);
            return;
        }
        const int copies = box_.open.copies[i], p = box_.open.point[i];
        const std::int64_t least = std::max<std::int64_t>(0, need - left_[i + 1]);
        const auto most =
            static_cast<int>(at_least_ ? copies : std::min<std::int64_t>(copies, need));
        Moments with = s;
        for (int z = 0; z <= most; ++z) {
            if (z > 0) with.add(cells_.x[p], cells_.y[p]);
            if (z < least) continue;
            if (z > 0) picks_.push_back({p, z});
            descend(i + 1, need - z, with, kept + z);
            if (z > 0) picks_.pop_back();
        }
    }

    const Box& box_;
    const Cells& cells_;
    bool at_least_;
    Visit visit_;
    std::vector<std::int64_t> left_;
    Picks picks_;
};

}  // namespace quadsweep
