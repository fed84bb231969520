// All removals of m units, whatever the statistic: each is refitted, by updating a fit that
// several removals share.
//
// Units are removed in a given order, depth first: the fit without the first m - 1 is kept, and the
// last one is an update of it. What rounding leaves open is handed back as unclear, for the caller
// to decide in exact arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "shared/control.hpp"

namespace quadsweep::estimating {

enum class Verdict { holds, breaks, unclear };

// One thread's fits. Level 0 is the fit to all rows.
class Refits {
  public:
    virtual ~Refits() = default;
    // The fit of level + 1: that of `level` without some more units.
    virtual void remove(int level, std::span<const int> units) = 0;
    // Whether the claim breaks on the rows of `level` without one more unit.
    virtual Verdict without(int level, int unit) = 0;
};

struct Tried {
    std::vector<int> breaking;              // a removal that breaks the claim, or nothing
    std::vector<std::vector<int>> unclear;  // removals that rounding leaves open
    std::uint64_t count = 0;                // removals refitted
    bool complete = false;                  // all were, and every unclear one is listed
};

// Calls note(verdict, removal) for every removal of `gone` and m of the units in `order`, until it
// says false; the verdict is unclear where nothing at all is removed.
using Note = std::function<bool(Verdict, const std::vector<int>&)>;
void list_removals(Refits& fits, const std::vector<int>& gone, const std::vector<int>& order, int m,
                   const Note& note);

// Removals of m of the units in `order`, the most promising first; no more than `most_unclear` are
// listed before it gives up.
Tried try_removals(const std::function<std::unique_ptr<Refits>()>& make,
                   const std::vector<int>& order, int m, std::size_t most_unclear, int n_jobs,
                   Control& control);

}  // namespace quadsweep::estimating
