// Good subsets by concentration: from a subset's own parameters take the cheapest k items, repeat
// until the score stops rising.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "box.hpp"
#include "form.hpp"

namespace quadsweep::regression {

struct Selection {
    std::vector<Copies> items;
    Gram sums;
    Own own;
};

class Concentrator {
  public:
    Concentrator(const Items& items, const Form& form, int k, bool k_or_more)
        : items_(items), form_(form), k_(k), k_or_more_(k_or_more) {}

    // t: what a partial correlation is aimed at. R2 aims at the subset's own.
    Selection step(const Own& from);
    // At least one step; no more once `stopped` says so, which is asked before every other.
    Selection climb(const Own& from, int most_steps, const std::function<bool()>& stopped = {});
    int steps() const { return steps_; }
    Selection select(const std::vector<int>& units) const;

    // From random small subsets; the best of them, best first.
    std::vector<Selection> from_random(int starts, int finalists, std::uint64_t seed);

  private:
    Selection cheapest_of_few(const std::vector<double>& cost);
    Selection cheapest_of_many(std::vector<double>& cost);

    const Items& items_;
    Form form_;
    int k_;
    bool k_or_more_;
    std::vector<std::pair<double, int>> order_;
    int steps_ = 0;
};

// Some of the items, one copy each, where there are more than `most`; else all as they are.
Items sample(const Items& items, int most, std::uint64_t seed);

// The units of a selection, sorted.
std::vector<int> units_of(const Items& items, const std::vector<Copies>& chosen);

}  // namespace quadsweep::regression
