// A lower bound on the least sum of k costs at a line, when few of many points lie near it. For
// nearby slopes, one table serves all intercepts.
//
// In a frame (x, y), the cost of a point at the line y = p1 x + p2 is
//
//   (z - p2)^2 - v,   z = y - p1 x,   v = rho (y + p1 x - gamma)^2 + (eta (x - x0))^2
//
// (criteria/line.hpp; eta is half the width of a range of slopes, docs/theory/plane.md). Points are
// sorted into rows by x, so that v varies little in a row, and into bins by z. The sums of the bins
// are accumulated from the left. A few entries of the table then say, for each row, which points
// cost less than lambda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cells.hpp"
#include "shared/array.hpp"
#include "shared/cost.hpp"

namespace quadsweep {

// Lines y = p1 x + p2, or with the axes exchanged.
struct Lines {
    bool exchanged;
    double lo[2], hi[2];  // of p1 and p2
};

// Sums as integer multiples of a power of two: they are exact, even when subtracted.
struct WholeSums {
    std::int64_t weight = 0;
    MomentsOf<std::int64_t> of;

    WholeSums& operator+=(const WholeSums& o) {
        weight += o.weight;
        of += o.of;
        return *this;
    }
    WholeSums& operator-=(const WholeSums& o) {
        weight -= o.weight;
        of -= o.of;
        return *this;
    }
};

// The points near some lines, with axes exchanged if the lines' are. Small cells stand for their
// points. A second gather() reuses the memory.
class Nearby {
  public:
    struct Wanted {
        double reach;     // largest distance from the lines
        double width;     // of cells that are kept whole, across a line
        double rows;      // of the table, about
        double farthest;  // along x; the few points beyond it are strays
    };
    void gather(const Cells& cells, const Lines& lines, const Wanted& wanted);

    struct Item {
        double x, y, hx, hy;  // a rectangle's centre and half its sides
        WholeSums sums;
    };
    struct Row {
        std::size_t first, last;
        double lo, hi;  // of x
        double hx, hy;  // the largest hx, hy of its items
        double middle() const { return lo + (hi - lo) / 2; }
        double half() const { return (hi - lo) / 2 * (1 + 1e-12); }
    };
    struct Stray {
        double x, y, weight;
    };
    std::span<const Item> items() const { return items_; }
    const std::vector<Stray>& strays() const { return strays_; }  // at any distance from the lines
    double farthest() const { return farthest_; }  // along x, of the points that are not strays
    const std::vector<Row>& rows() const { return rows_; }
    bool complete() const { return complete_; }     // no point is left out
    double first_unit() const { return unit_[0]; }  // of sums of x and y
    double second_unit() const { return unit_[1]; }
    double most_x() const { return most_x_; }
    double most_y() const { return most_y_; }

  private:
    void collect(const Cells& cells, const Lines& lines, const Wanted& wanted);
    std::vector<double> row_ends(double rows) const;
    void sort_into_rows(double rows);

    Array<Item> items_;
    std::vector<Stray> strays_;
    std::vector<Row> rows_;
    bool complete_ = true;
    double unit_[2], most_x_, most_y_, farthest_;
};

// The bound wanted at a line.
struct StripQuestion {
    double k;
    double rho, base;  // coefficients of the criterion
    double roundings;  // in a cell's moments
};

// The table for lines of nearly one slope.
class Strips {
  public:
    explicit Strips(const Nearby& nearby) : nearby_(nearby) {}

    // Prepares lines of about this slope with lo <= p2 <= hi, and points within `reach` of them.
    void set(double slope, double lo, double hi, double bin, double reach);

    struct At {
        double p1, p2, eta, x0;
        double gamma, lambda;  // multipliers: any gives a bound
    };
    struct Trial {
        double value;   // lower bound; -infinity if the table does not reach far enough
        double weight;  // of the points below lambda, about
        Moments inside;
        double inside_weight;  // of the points certainly below lambda
    };
    Trial at(const StripQuestion& asked, const At& line) const;

  private:
    struct Below {  // points certainly below lambda, and the most that others can add
        WholeSums inside;
        double weight = 0, most = 0;
        double likely = 0;  // estimated weight below lambda
    };
    struct Costs {
        double rho;
        double rounded;   // rounding of positions
        Quadratic whole;  // acts on the integer sums

        double total(const WholeSums& s) const {
            return whole.total({static_cast<double>(s.of.x), static_cast<double>(s.of.y),
                                static_cast<double>(s.of.xx), static_cast<double>(s.of.xy),
                                static_cast<double>(s.of.yy)},
                               static_cast<double>(s.weight));
        }
    };
    bool add_row(std::size_t row, const At& line, const Costs& costs, Below& below) const;
    bool reaches_all(const At& line, const Costs& costs) const;

    const Nearby& nearby_;
    double slope_ = 0, from_ = 0, bin_ = 1, reach_ = 0, rounded_ = 0;
    int bins_ = 0;
    Array<WholeSums> before_;  // row by row: the sums of all bins before each bin
};

}  // namespace quadsweep
