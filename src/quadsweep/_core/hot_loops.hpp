// The loops that take the time, compiled once for each instruction set and chosen at run time.
//
// hot_loops.cpp is compiled as baseline and, on x86-64, as avx2 and avx512. It uses no standard
// library templates, so that no function compiled for a newer processor can be picked by the
// linker for an older one.
#pragma once

#include "moments.hpp"
#include "objectives.hpp"

namespace quadsweep {

// Moments of many small sets, side by side.
struct MomentTable {
    const double *x, *y, *xx, *xy, *yy;
    int size;
};

struct HotLoops {
    const char* name;

    // How many rows of the table, added to `base`, may score as much as `best`.
    int (*screen[7])(const MomentTable& table, const Moments& base, double k, const Slack& slack,
                     double best);
};

const HotLoops& hot_loops();

// For tests and benchmarks: "baseline", "avx2", "avx512", or "auto". False if not available here.
bool choose_hot_loops(std::string_view name);

}  // namespace quadsweep
