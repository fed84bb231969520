// The loops over points that take the time: compiled for each instruction set (see hot_loops.hpp).
#pragma once

namespace quadsweep::ellipse {

// The cost of box.hpp: multipliers, and the coefficients of e and f.
struct CostTask {
    double e2, phi, n1, n2, n3;
    double l, s, a, g, v;
};

struct Rows {
    const double *x, *y, *weight;
    double *cost, *error;
    int size;
};

struct EllipseLoops {
    void (*costs)(const Rows& rows, const CostTask& task);
    // rows.error: how far a cost may be from the true one. Returns the sum of the errors of the
    // points that are below the threshold or may be, with `sums` roundings in the sum of costs.
    double (*errors)(const Rows& rows, const CostTask& task, double lambda, double sums);
};

const EllipseLoops& ellipse_loops();

}  // namespace quadsweep::ellipse
