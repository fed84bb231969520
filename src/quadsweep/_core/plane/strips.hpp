// The least sum of k costs at a line, from below, where few of many points lie near it: for slopes
// close to each other, all intercepts from one table.
//
// Along the axes of a frame (x, y) a point costs at the line y = p1 x + p2
//
//   (z - p2)^2 - v,   z = y - p1 x,   v = rho (y + p1 x - gamma)^2 + (eta (x - x0))^2
//
// (criteria/line.hpp; eta is half the width of a range of slopes, docs/theory/plane.md). Points are
// put into rows by x, in which v varies little, and into bins by z, whose sums are added up from
// the left. A few entries of the table then say, for each row, which points cost less than lambda.
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

// Sums as whole numbers of a power of two, so that they are exact and may be subtracted.
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

// The points near some lines, axes exchanged if theirs are; small cells stand for their points.
// Gathered again for other lines, they take the place they had.
class Nearby {
  public:
    struct Wanted {
        double reach;     // no farther from any of the lines
        double width;     // across a line: of cells that are kept
        double rows;      // about so many
        double farthest;  // points beyond it along x are few, and stand for themselves
    };
    void gather(const Cells& cells, const Lines& lines, const Wanted& wanted);

    struct Item {
        double x, y, hx, hy;  // a rectangle's centre and half its sides
        WholeSums sums;
    };
    struct Row {
        std::size_t first, last;
        double lo, hi;  // of x
        double hx, hy;  // the largest of its items
        double middle() const { return lo + (hi - lo) / 2; }
        double half() const { return (hi - lo) / 2 * (1 + 1e-12); }
    };
    struct Stray {
        double x, y, weight;
    };
    std::span<const Item> items() const { return items_; }
    const std::vector<Stray>& strays() const { return strays_; }  // however far from the lines
    double farthest() const { return farthest_; }                 // along x, of all others
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

// What is asked of a line.
struct StripQuestion {
    double k;
    double rho, base;  // of the criterion
    double roundings;  // in a cell's moments
};

// Lines of about one slope.
class Strips {
  public:
    explicit Strips(const Nearby& nearby) : nearby_(nearby) {}

    // Lines of about this slope with lo <= p2 <= hi, and points up to `reach` from them.
    void set(double slope, double lo, double hi, double bin, double reach);

    struct At {
        double p1, p2, eta, x0;
        double gamma, lambda;  // multipliers: any gives a bound
    };
    struct Trial {
        double value;   // no k points sum to less; -infinity if the table does not reach so far
        double weight;  // of what lies below lambda, about
        Moments inside;
        double inside_weight;  // of what lies below it for certain
    };
    Trial at(const StripQuestion& asked, const At& line) const;

  private:
    struct Below {  // lambda: points that are for certain, and the most that others can add
        WholeSums inside;
        double weight = 0, most = 0;
        double likely = 0;  // of the weight
    };
    struct Costs {
        double rho;
        double rounded;   // of places
        Quadratic whole;  // of whole numbers

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
    Array<WholeSums> before_;  // row by row: of all bins before one
};

}  // namespace quadsweep
