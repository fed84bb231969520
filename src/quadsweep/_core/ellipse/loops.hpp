// The loops over points that take the time: compiled for each instruction set (see hot_loops.hpp).
#pragma once

namespace quadsweep::ellipse {

// A cost at the centre of a box (box.hpp): weight of e^2, multipliers, constant, parameters.
struct CentreTask {
    double A, phi, n1, n2, n3, base;
    double l, s, a, g, v;
};

// The tangent plane of a point's cost: P at the centre, E the slope along e, H along f.
struct Rows {
    const double *x, *y, *weight;
    double *P, *E, *H, *error;
    int size;
};

// Largest sizes in a box: of the parameters, and of the steps from its centre.
struct Reach {
    double l, s, a, g, v;
    double dl, ds, da, dg, dv;
    double sums;  // roundings in a sum of costs
};

struct CornerTask {
    double dl, ds, da, dg, dv;
};

struct Below {
    double weight, cost;
};

struct EllipseLoops {
    void (*centre)(const Rows& rows, const CentreTask& task);
    // Costs at a corner, and the weight and cost of what is below the threshold.
    Below (*corner)(const Rows& rows, const CornerTask& task, double lambda, double* out);
    // rows.error: how far a computed cost may be from the true one, at any corner.
    void (*errors)(const Rows& rows, const CentreTask& task, const Reach& reach);
    // The sum of the errors of the points that are below the threshold or may be, at this corner.
    double (*touched)(const Rows& rows, const double* cost, double lambda);
    // Copies against the threshold, and copies left out, that lift the bound at a corner by `lift`;
    // the most of them over the corners.
    void (*required)(const Rows& rows, const double* cost, double lambda, double lift, double* out,
                     double* in);
};

const EllipseLoops& ellipse_loops();

}  // namespace quadsweep::ellipse
