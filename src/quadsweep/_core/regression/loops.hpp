// The loops over rows that take the time, compiled once for each instruction set (hot_loops.hpp
// says how); `regression_loops()` follows the choice made there.
#pragma once

namespace quadsweep::regression {

constexpr int most_dims = 11;  // of a box

// The costs of a box's rows at all corners. Corner q has the sign of bit j of q in its dimension j;
// dimensions that the other square sees come last.
struct CornerTask {
    int size;   // rows, a multiple of 8
    int inner;  // dimensions that only e sees
    int outer;  // and those that u sees too
    const double* e;
    const double* left;               // null: the tangent of e^2, else e times this
    const double* column[most_dims];  // of each dimension
    double step[most_dims];           // how far s_e times the right factor goes to each side
    double s_e, s_u;
    const double* u[4];  // for each sign of the outer dimensions; null if s_u = 0
    double lambda;       // at the centre, and u there, null likewise: for the tangent's anchors
    const double* u_centre;
    double* const* out;
};

// Over the corners, for each row: the least and the largest cost - lambda; and, of those corners
// whose bound is below zero, the margin by which keeping it (leaving it out) lifts the bound over
// zero where that is least.
struct MarginTask {
    int size, corners;
    const double* const* cost;
    const double* lambda;
    const double* lift;
    double *out, *in, *lowest, *highest;
};

// How far rounding may have moved a row's costs: see `ErrorTask` in loops.cpp.
struct ErrorTask {
    int size, columns, searched, in_left;  // columns, those of e, of the left factor
    const double* const* column;
    const double* left;   // largest |coefficient| of each column in the left factor,
    const double* theta;  // in e
    const double* reach;  // how far the right factor's goes from the centre's
    const double* phi;    // largest |coefficient| in u of each column
    double offset_left, offset_e, offset_u;
    double s_e, s_u, slack;
    const double *left_factor, *e;
    double *error, *magnitude;
};

// Weights times shares: their sum, and that of weights times squares of shares.
struct Shares {
    double sum = 0, squares = 0;
};

// The ends of cells' costs: see cell_costs.hpp. Columns are the varying ones, the searched first.
struct CellTask {
    int size, searched, in_left, varying;
    const double *const *centre, *const *half;
    const double* const* slope;  // mean of each searched column times the left factor
    const double *left, *right, *phi;
    double s_e, s_u;
    const double *left_factor, *u;  // at the centre
    // How far a row's may be from it; of the difference of the two factors, likewise.
    const double *reach_left, *reach_difference, *reach_u;
    const double* square_u;  // mean of u's square
    const double *weight, *error;
    double *low, *high, *low_weight, *high_weight;
};

struct RegressionLoops {
    // out = sum of coefficient times column
    void (*combine)(const double* const* column, const double* coefficient, int count, int size,
                    double* out);
    // out = s_e left e - s_u u^2
    void (*costs)(const double* left, const double* e, double s_e, const double* u, double s_u,
                  int size, double* out);
    // out = a b
    void (*multiply)(const double* a, const double* b, int size, double* out);
    // out = weight times a share between 0 and 1, a half at the threshold
    Shares (*shares)(const double* cost, const double* weight, int size, double threshold,
                     double width, double* out);
    void (*corners)(const CornerTask& task);
    void (*extremes)(const MarginTask& task);  // lowest and highest
    void (*margins)(const MarginTask& task);   // out and in
    void (*errors)(const ErrorTask& task);
    // weight where cost < lambda, else 0; their sum
    double (*chosen)(const double* cost, const double* weight, int size, double lambda,
                     double* out);
    void (*cell_ends)(const CellTask& task);
    // sum of weight a b; without b, of weight a
    double (*product)(const double* weight, const double* a, const double* b, int size);
    // sum of weight a over rows with lowest < limit
    double (*touched)(const double* weight, const double* a, const double* lowest,
                      const double* limit, int size);
};

const RegressionLoops& regression_loops();

}  // namespace quadsweep::regression
