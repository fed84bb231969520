// The least sum of k costs at a line, from below, where few of many points lie near it: for one
// slope, all intercepts from one table.
//
// In a frame's coordinates (x, y) the cost of a point at the line y = p1 x + p2 is
//
//   (z - p2)^2 - v,   z = y - p1 x,   v = rho (y + p1 x - gamma)^2 + (eta1 x)^2 + eta2^2
//
// (criteria/line.hpp; eta are what a part of a lattice drops, docs/theory.md). Points are put into
// rows by x, in which v varies little, and into bins by z, whose sums are added up from the left.
// What costs less than lambda is then known for each row from four places of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cells.hpp"
#include "criteria/line.hpp"
#include "search/threshold.hpp"

namespace quadsweep {

// A rectangle of lines of one frame: lo[0] <= p1 <= hi[0], lo[1] <= p2 <= hi[1].
struct Lines {
    int frame;
    double lo[2], hi[2];
};

// How finely lines are looked at.
struct Grain {
    double eta[2];  // half-widths of the lattice's parts
    double bin;     // of z
    double reach;   // points farther than this from a line are not in its table
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

// The points near some lines, in a frame's coordinates; cells that are smaller than a bin stand for
// theirs.
class Nearby {
  public:
    // In about so many rows.
    Nearby(const Cells& cells, const LineCriterion::Frame& frame, const Lines& lines,
           const Grain& grain, double rows);

    struct Item {
        double x, y, hx, hy;  // a rectangle's centre and half its sides
        WholeSums sums;
    };
    struct Row {
        std::size_t first, last;
        double lo, hi;  // of x
        double hx, hy;  // the largest of its items
    };
    const std::vector<Item>& items() const { return items_; }
    const std::vector<Row>& rows() const { return rows_; }
    double first_unit() const { return unit_[0]; }  // of sums of x and y
    double second_unit() const { return unit_[1]; }
    double most_x() const { return most_x_; }
    double most_y() const { return most_y_; }

  private:
    void collect(const Cells& cells, const LineCriterion::Frame& frame, const Lines& lines,
                 const Grain& grain);
    std::vector<double> row_ends(double rows) const;
    void sort_into_rows(double rows);

    std::vector<Item> items_;
    std::vector<Row> rows_;
    double unit_[2], most_x_, most_y_;
};

// The lines of one slope.
class Slope {
  public:
    // `roundings`: in a cell's moments.
    Slope(const LineCriterion& criterion, const Nearby& nearby, double k, double roundings)
        : criterion_(criterion), nearby_(nearby), k_(k), roundings_(roundings) {}

    // Lines with lo <= p2 <= hi.
    void set(int frame, double p1, double lo, double hi, const Grain& grain);
    // A guess at the k-th smallest cost, and of the mean x of the k points.
    void guess(double lambda, double mean_x) {
        lambda_ = first_lambda_ = lambda;
        mean_x_ = mean_x;
        curvature_ = -4 * criterion_.hurts() * k_;
    }
    // Whether no k points sum to less than 0. Guesses go on from line to line.
    bool positive(double p2);

    // The worst line that was not positive: what it chose, in the frame's coordinates.
    struct Worst {
        double value = 0, weight = 0;
        Moments moments;
    };
    const Worst& worst() const { return worst_; }

  private:
    struct Below {  // lambda: points that are for certain, and the most that others can add
        WholeSums inside;
        double weight = 0, most = 0;
    };
    struct Trial {
        double value, error;
        double weight;  // of what lies below lambda, or may
        Moments inside;
        double inside_weight;
    };
    bool add_row(std::size_t row, double p2, double gamma, double lambda, Below& below) const;
    Trial at(double p2, double gamma, double lambda) const;

    const LineCriterion& criterion_;
    const Nearby& nearby_;
    double k_, roundings_;
    double p1_ = 0, base_ = 0, from_ = 0, bin_ = 1, reach_ = 0, rounded_ = 0;
    double eta_[2] = {};
    int bins_ = 0;
    std::vector<WholeSums> before_;  // row by row: of all bins before one
    double lambda_ = 0, first_lambda_ = 0, mean_x_ = 0, curvature_ = 0;
    Threshold threshold_{true};
    Worst worst_;
};

}  // namespace quadsweep
