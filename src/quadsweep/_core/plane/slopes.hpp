// If few of many points are kept, lines are first examined slope by slope (strips.hpp); only those
// that may belong to a better subset become boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "box.hpp"
#include "cells.hpp"
#include "criteria/line.hpp"
#include "shared/control.hpp"
#include "tuning.hpp"

namespace quadsweep {

struct Scan {
    const Cells& cells;
    Centred good;  // sums of a good subset: strips are about as wide as its residuals
    double k;
    int n_jobs;
    // Moments of k points that may be better ones; may aim the criterion at a higher score.
    std::function<void(const Moments&)> propose;
    int rounds = tuning::scan_rounds;        // each with ranges of slopes half as wide
    double most_lines = tuning::most_lines;  // in any of them, of the square of n over k
};

struct Scanned {
    std::vector<Box> left;    // with all lines of subsets that may beat the criterion's score
    std::uint64_t lines = 0;  // looked at
    double evaluations = 0;   // points and cells put into tables
};

// Whether it is likely to pay.
bool worth_scanning(const LineCriterion& criterion, const Scan& scan);
// Stopped half-way, it leaves what it has not looked at.
Scanned scan_slopes(const LineCriterion& criterion, const Scan& scan, Control& control);

}  // namespace quadsweep
