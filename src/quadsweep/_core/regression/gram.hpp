// Sums of products of columns: what a subset's fit is computed from.
#pragma once

#include <array>
#include <cmath>

#include "table.hpp"

namespace quadsweep::regression {

// Symmetric, by the lower triangle.
struct Gram {
    static constexpr int at(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : at(j, i); }
    static constexpr int entries(int columns) { return columns * (columns + 1) / 2; }

    std::array<double, most_columns*(most_columns + 1) / 2> s{};

    double operator()(int i, int j) const { return s[at(i, j)]; }
    void add(const double* c, int columns, double copies) {
        int e = 0;
        for (int i = 0; i < columns; ++i) {
            const double ci = copies * c[i];
            for (int j = 0; j <= i; ++j) s[e++] += ci * c[j];
        }
    }
    // a' S b over the first columns
    double form(const double* a, const double* b, int columns) const {
        double sum = 0;
        for (int i = 0; i < columns; ++i) {
            double row = 0;
            for (int j = 0; j < columns; ++j) row += (*this)(i, j) * b[j];
            sum += a[i] * row;
        }
        return sum;
    }
    // A bound on the terms of a' S a, each entry as large as its squares allow.
    double magnitude(const double* a, const double* floor, int columns) const {
        double sum = 0;
        for (int i = 0; i < columns; ++i) sum += a[i] * (std::sqrt(s[at(i, i)]) + floor[i]);
        return sum * sum;
    }
};

// A sum of many that keeps what each addition rounds away, so that it is off by hardly more than
// its terms are.
class KeptGram {
  public:
    void add(const Gram& g, int columns) {
        for (int e = 0; e < Gram::entries(columns); ++e) {
            const double to = sum_.s[e] + g.s[e], added = to - sum_.s[e];
            lost_.s[e] += (sum_.s[e] - (to - added)) + (g.s[e] - added);
            sum_.s[e] = to;
        }
    }
    Gram total() const {
        Gram g;
        for (std::size_t e = 0; e < g.s.size(); ++e) g.s[e] = sum_.s[e] + lost_.s[e];
        return g;
    }

  private:
    Gram sum_, lost_;
};

}  // namespace quadsweep::regression
