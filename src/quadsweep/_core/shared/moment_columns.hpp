// Moments of many sets in columns, as the vector loops take them.
#pragma once

#include <vector>

#include "hot_loops.hpp"

namespace quadsweep {

// Moments side by side, one a row.
struct MomentColumns {
    std::vector<double> x, y, xx, xy, yy;

    void append(const Moments& s) {
        x.push_back(s.x);
        y.push_back(s.y);
        xx.push_back(s.xx);
        xy.push_back(s.xy);
        yy.push_back(s.yy);
    }
    Moments row(std::size_t i) const { return {x[i], y[i], xx[i], xy[i], yy[i]}; }
    MomentTable view() const {
        return {x.data(), y.data(), xx.data(), xy.data(), yy.data(), static_cast<int>(x.size())};
    }
};

}  // namespace quadsweep
