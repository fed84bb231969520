// Closing a box without its bound: by listing all ways to fill up the subset from the undecided
// copies, or because no subset of it has both a value and its own theta here.
#pragma once

#include <cstdint>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "form.hpp"
#include "items.hpp"

namespace quadsweep::regression {

// Number of ways to keep `need` (or, with at_least, `need` or more) of the copies; stops counting
// beyond `most`.
std::int64_t ways(const Box& box, bool at_least, std::int64_t most);

using Picks = std::vector<Decided::Copies>;

// Calls visit(sums, picks) for each of them, with the decided copies in the sums, until it says
// false.
template <class Visit>
class Lister {
  public:
    Lister(const Box& box, const Items& items, bool at_least, Visit visit)
        : box_(box), items_(items), at_least_(at_least), visit_(visit) {
        left_.assign(box.open.size() + 1, 0);  // copies available from an item on
        for (std::size_t i = box.open.size(); i-- > 0;) left_[i] = left_[i + 1] + box.copies[i];
        for (int item : box.open) sums_.push_back(items.gram(item));
    }
    void run() {
        if (box_.need <= left_[0] && (box_.need >= 0 || at_least_)) {
            descend(0, box_.need, box_.kept.total());
        }
    }

  private:
    bool descend(std::size_t i, int need, const Gram& s) {
        const bool rest_out = need == 0 && !at_least_;
        if (i == box_.open.size() || rest_out) return visit_(s, picks_);
        const int least = std::max(0, need - left_[i + 1]);
        const int most = at_least_ ? box_.copies[i] : std::min(box_.copies[i], need);
        Gram with = s;
        for (int z = 0; z <= most; ++z) {
            if (z > 0) {
                for (int e = 0; e < Gram::entries(items_.columns); ++e) with.s[e] += sums_[i].s[e];
            }
            if (z < least) continue;
            if (z > 0) picks_.push_back({box_.open[i], z});
            const bool on = descend(i + 1, need - z, with);
            if (z > 0) picks_.pop_back();
            if (!on) return false;
        }
        return true;
    }

    const Box& box_;
    const Items& items_;
    bool at_least_;
    Visit visit_;
    std::vector<int> left_;
    std::vector<Gram> sums_;
    Picks picks_;
};

double least_eigenvalue(const Gram& sums, int columns);

// True if the question has no value on any subset of the box, or if on all its rows some columns of
// Z depend on each other along directions that no theta of the box is free of: the theta of least
// norm of every such subset lies elsewhere. `all`: the sums of everything kept or open. Never said
// of a box with open cells.
bool hopeless(const Table& table, const Items& items, const Cells& cells, const Form& form,
              const Box& box, const Gram& all);

}  // namespace quadsweep::regression
