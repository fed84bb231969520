// The score of a subset from its rows as given, to double-double precision: what is reported,
// compared and called undefined, however the kernels have placed and rounded their columns.
#pragma once

#include <span>

#include "double_double.hpp"
#include "objectives.hpp"

namespace quadsweep {

// score = mantissa * 2^exponent, for values beyond the range of a double. `undefined` where the
// mantissa is -infinity.
struct WideScore {
    DoubleDouble mantissa{undefined, 0};
    int exponent = 0;

    bool defined() const { return mantissa.hi != undefined; }
    // In units of 2^unit, rounded once.
    double in_units(int unit) const {
        return defined() ? std::ldexp(mantissa.value(), exponent - unit) : undefined;
    }
};

// About each column's mean; x is scaled by 2^-ex and y by 2^-ey. `rest` is the residual sum of
// squares of the least squares line, from the residuals themselves where b - c^2/a would cancel.
struct ExactSums {
    DoubleDouble a, b, c, rest;
    int ex = 0, ey = 0;
};

// Rounded to `precise` = false: off by a few 2^-53 of a, b and sqrt(ab); else by 2^-100 of them.
ExactSums exact_sums(std::span<const double> x, std::span<const double> y,
                     std::span<const int> subset, bool precise);

WideScore wide_score(const ExactSums& sums, double k, Objective objective);

}  // namespace quadsweep
