#include "loops.hpp"

#include "shared/moments.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)

namespace quadsweep::ellipse {
namespace {

constexpr double roundings = 24;  // in a cost and its coordinates, relative to the sizes of terms

QUADSWEEP_INLINE double size_of(double a) { return a < 0 ? -a : a; }

void costs(const Rows& rows, const CostTask& task) {
    const Rows r = rows;
    const CostTask t = task;
#pragma omp simd
    for (int i = 0; i < r.size; ++i) {
        const double e = t.l * r.x[i] + t.s * r.y[i] - t.a, f = t.g * r.y[i] - t.v;
        r.cost[i] = e * (t.e2 * e + (t.n1 + t.n2 * r.y[i])) + f * (t.phi * f + t.n3);
    }
}

// e is off by some ulps of |l x| + |s y| + |a| = me, and its square by as many of me (2 |e| + me
// ulp); f likewise.
double errors(const Rows& rows, const CostTask& task, double lambda, double sums) {
    const Rows r = rows;
    const CostTask t = task;
    const double n1 = size_of(t.n1), n2 = size_of(t.n2), n3 = size_of(t.n3);
    const double l = size_of(t.l), s = size_of(t.s), a = size_of(t.a);
    const double g = size_of(t.g), v = size_of(t.v);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < r.size; ++i) {
        const double x = size_of(r.x[i]), y = size_of(r.y[i]);
        const double e = size_of(t.l * r.x[i] + t.s * r.y[i] - t.a);
        const double f = size_of(t.g * r.y[i] - t.v);
        const double me = l * x + s * y + a, mf = g * y + v;
        const double terms = t.e2 * me * (e + roundings * ulp * me) + (n1 + n2 * y) * me +
                             t.phi * mf * (f + roundings * ulp * mf) + n3 * mf;
        const double error = ulp * (roundings * terms + sums * size_of(r.cost[i]));
        r.error[i] = error;
        total += r.cost[i] - lambda < error ? r.weight[i] * error : 0.0;
    }
    return total;
}

}  // namespace

extern const EllipseLoops QUADSWEEP_CONCAT(ellipse_loops_, QUADSWEEP_ISA);
const EllipseLoops QUADSWEEP_CONCAT(ellipse_loops_, QUADSWEEP_ISA) = {costs, errors};

}  // namespace quadsweep::ellipse
