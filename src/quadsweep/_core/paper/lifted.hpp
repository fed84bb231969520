// Lifted points in homogeneous coordinates, and the elimination both sweeps are made of.
//
// A point i becomes h_i = (L_i, 1). A hyperplane of the lifted space is a vector w, and the sign of
// w . h_i is the side of point i. Planes through a point t are what is left after one coordinate
// has been eliminated with t as the pivot row; after r - 2 points the planes form a pencil, after r
// - 1 there is one plane and the one coordinate left is w . h_i up to a factor.
#pragma once

#include <span>
#include <vector>

#include "shared/points.hpp"

namespace quadsweep {

// Columns of coordinates, and for every point a bound on the error of each of its coordinates.
struct Coordinates {
    int n = 0, width = 0;
    std::vector<double> values;  // width columns of n
    std::vector<double> error;

    Coordinates() = default;
    Coordinates(int points, int columns)
        : n(points),
          width(columns),
          values(static_cast<std::size_t>(points) * columns),
          error(points) {}

    double* column(int c) { return values.data() + static_cast<std::size_t>(c) * n; }
    const double* column(int c) const { return values.data() + static_cast<std::size_t>(c) * n; }
    double largest(int point) const;
};

// (L, 1) for the objective's natural lift.
Coordinates natural_lift(const Points& points, Objective objective);

// (L, 1) for rows of d numbers given by the user. Planes do not care about the origin and unit of a
// column, so each is centred at its median and scaled.
Coordinates given_lift(std::span<const double> rows, int n, int d);

// Each point times a power of two, so that its largest coordinate is about 1. Keeps sides, not
// distances from a plane.
void scale_points(Coordinates& h);

// Some of the columns, as many as the rank of the points: one-to-one on the space they span.
Coordinates independent_columns(const Coordinates& h);

// Only the given points.
Coordinates rows_of(const Coordinates& h, std::span<const int> points);

// Eliminates one coordinate by point t, the one where t is largest, so that multipliers stay within
// 1. False, with nothing done, where t is zero within its error: it depends on the points before.
// Rounding: with every |coordinate| <= error / eps at the start, error' = 2.5 error + ... covers
// the errors of both operands, of the multiplier and of the subtraction.
bool eliminate(const Coordinates& from, int t, Coordinates& to);

}  // namespace quadsweep
