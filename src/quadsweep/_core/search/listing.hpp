// Closing a box by listing: all ways to fill up the subset from the undecided copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decisions.hpp"

namespace quadsweep {

// Number of ways to keep `need` (or, with k_or_more, `need` or more) of the copies; stops counting
// beyond `most`, and is more than that where cells are open.
std::int64_t ways(const Undecided& open, std::int64_t need, bool k_or_more, std::int64_t most);

// C(n, k), or infinity beyond `most`.
double subsets(int n, int k, double most);

// Calls visit(sums, picks) for each of these ways until it says false. The picks are from `open`
// alone (all_kept adds what the box keeps); the sums begin with `kept`, and add(sums, i) adds a
// copy of point open.point[i] to them. Where a score needs no sums, any type with an empty `add`
// will do.
template <class Sums, class Add, class Visit>
class Lister {
  public:
    Lister(const Undecided& open, bool k_or_more, Add add, Visit visit)
        : open_(open), k_or_more_(k_or_more), add_(add), visit_(visit) {
        left_.assign(open.point.size() + 1, 0);  // copies available from a point on
        for (std::size_t i = open.point.size(); i-- > 0;) left_[i] = left_[i + 1] + open.copies[i];
    }
    void run(std::int64_t need, const Sums& kept) {
        if (need <= left_[0] && (need >= 0 || k_or_more_)) descend(0, need, kept);
    }

  private:
    bool descend(std::size_t i, std::int64_t need, const Sums& sums) {
        const bool rest_out = need == 0 && !k_or_more_;
        if (i == open_.point.size() || rest_out) return visit_(sums, picks_);
        const int copies = open_.copies[i];
        const std::int64_t least = std::max<std::int64_t>(0, need - left_[i + 1]);
        const auto most =
            static_cast<int>(k_or_more_ ? copies : std::min<std::int64_t>(copies, need));
        Sums with = sums;
        for (int z = 0; z <= most; ++z) {
            if (z > 0) add_(with, i);
            if (z < least) continue;
            if (z > 0) picks_.push_back({open_.point[i], z});
            const bool on = descend(i + 1, need - z, with);
            if (z > 0) picks_.pop_back();
            if (!on) return false;
        }
        return true;
    }

    const Undecided& open_;
    bool k_or_more_;
    Add add_;
    Visit visit_;
    std::vector<std::int64_t> left_;
    Picks picks_;
};

template <class Sums, class Add, class Visit>
void list_ways(const Undecided& open, std::int64_t need, bool k_or_more, const Sums& kept, Add add,
               Visit visit) {
    Lister<Sums, Add, Visit>(open, k_or_more, add, visit).run(need, kept);
}

}  // namespace quadsweep
