// A box of parameters, and what is decided about the items in it.
#pragma once

#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep::estimating {

inline constexpr int most_dims = 9;
inline constexpr int most_multipliers = most_dims + 1;

struct Box {
    double upper = infinity, missing = 0;  // minus its bound
    double centre[most_dims] = {}, half[most_dims] = {};
    int side = 1;              // the sign of the coefficient, where it is searched
    double low = 0, high = 0;  // of the numerator, where it is searched
    double multiplier[most_multipliers] = {};
    bool inherited = false;      // whether these are a parent's
    double ways = infinity;      // removals that were left before it was split off
    std::vector<int> open, out;  // items undecided, and removed for good; all others are kept
};

inline double bytes(const Box& box) {
    return static_cast<double>(sizeof(Box) +
                               sizeof(int) * (box.open.capacity() + box.out.capacity()));
}

}  // namespace quadsweep::estimating
