// The loops that take the time, compiled once for each instruction set and chosen at run time.
//
// hot_loops.cpp is compiled as baseline and, on x86-64, as avx2 and avx512. It uses no standard
// library templates, so that no function compiled for a newer processor can be picked by the
// linker for an older one.
#pragma once

#include "cost.hpp"
#include "moments.hpp"
#include "objectives.hpp"

namespace quadsweep {

// Moments of many small sets, side by side.
struct MomentTable {
    const double *x, *y, *xx, *xy, *yy;
    int size;
};

// What is left of the points when a pencil of planes has been eliminated (sweep.cpp).
struct PencilView {
    const double *p, *q, *error;
    int n;
};

// Cells side by side (cells.hpp): centre, half sides, weight, moments about the centre a unit
// weight.
struct CellTable {
    const double *x, *y, *hx, *hy, *weight, *mx, *my, *mxx, *mxy, *myy;
    int size;
};

// Weight and cost of what lies below a threshold.
struct Tally {
    double weight = 0, cost = 0;
};

// The costs of some points at the four corners of a box (fewer corners: some twice), with the
// thresholds and how far each bound is below zero.
struct CornerRows {
    const double* cost[4];
    double lambda[4], lift[4];
};

struct HotLoops {
    const char* name;

    // How many rows of the table, added to `base`, may score as much as `best`.
    int (*screen[objectives])(const MomentTable& table, const Moments& base, double k,
                              const Slack& slack, double best);

    // out[i] = in[i] - pivot[i] * ratio.
    void (*eliminate)(const double* in, const double* pivot, int n, double ratio, double* out);

    // For each point the angle at which the pencil meets it, as a key that rises from -1 to 3 over
    // half a turn; how far rounding may have moved it; the end of the line it is on, 0 or 1.
    void (*angles)(const PencilView& pencil, double* key, double* reach, double* end);

    // How many keys are smaller than each; n is a multiple of 8.
    void (*ranks)(const double* key, int n, long long* rank);

    // Moments of the points on side 0 and on side 1 of the plane of the pencil just before the key
    // `at`: those of smaller keys are on the side of their end, the others opposite; those of
    // another end than 0 or 1 are on neither. The size is a multiple of 8.
    void (*side_moments)(const MomentTable& points, const double* key, const double* end, double at,
                         Moments* both);

    // out[i] = cost(x[i], y[i]), and what `tally` says of them.
    Tally (*costs)(const double* x, const double* y, const double* weight, int size,
                   const Cost& cost, double lambda, double* out);
    // For each cell the ends of the range of a cost over its rectangle, widened by `slack` times
    // the magnitude of its terms, and the weights at the two ends that give it the cell's mean.
    void (*cell_costs)(const CellTable& cells, const Cost& cost, const Magnitude& magnitude,
                       double slack, double* low, double* high, double* low_weight,
                       double* high_weight);
    // Over all i with cost[i] < lambda.
    Tally (*tally)(const double* cost, const double* weight, int size, double lambda);
    // Sum of weight times magnitude over the points that are below the threshold at some corner, or
    // may be, given a rounding of `slack` times their magnitude.
    double (*touched)(const double* x, const double* y, const double* weight, int size,
                      const CornerRows& rows, const Magnitude& magnitude, double slack);
    // For each point the copies that must be kept against the threshold, and those that must be
    // left out, before the bound reaches zero at every corner.
    void (*required)(const double* x, const double* y, int size, const CornerRows& rows,
                     const Magnitude& magnitude, double slack, double* out, double* in);
    // Moments of the points i with cost[i] < lambda, times their weights; also their weight.
    Moments (*below)(const double* x, const double* y, const double* weight, const double* cost,
                     int size, double lambda, double& total);
};

const HotLoops& hot_loops();

// For tests and benchmarks: "baseline", "avx2", "avx512", or "auto". False if not available here.
bool choose_hot_loops(std::string_view name);

// Defines loops(): of the compilations of a folder's own loops the one that follows the choice.
#ifdef QUADSWEEP_X86
#define QUADSWEEP_FOLLOWING(Loops, loops)                              \
    extern const Loops loops##_baseline, loops##_avx2, loops##_avx512; \
    const Loops& loops() {                                             \
        const std::string_view chosen = hot_loops().name;              \
        if (chosen == "avx512") return loops##_avx512;                 \
        return chosen == "avx2" ? loops##_avx2 : loops##_baseline;     \
    }
#else
#define QUADSWEEP_FOLLOWING(Loops, loops) \
    extern const Loops loops##_baseline;  \
    const Loops& loops() { return loops##_baseline; }
#endif

}  // namespace quadsweep
