#include "loops.hpp"

#include "shared/moments.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)

namespace quadsweep::ellipse {
namespace {

constexpr double ulp = 0x1p-52;
constexpr double roundings = 48;  // in a cost, relative to the sizes of its terms
constexpr double infinite = 1e300;
constexpr int block = 512;  // a sum has at most 64 + size/512 additions in a row

QUADSWEEP_INLINE double size_of(double a) { return a < 0 ? -a : a; }
QUADSWEEP_INLINE double larger(double a, double b) { return a > b ? a : b; }

void centre(const Rows& rows, const CentreTask& task) {
    const Rows r = rows;
    const CentreTask t = task;
#pragma omp simd
    for (int i = 0; i < r.size; ++i) {
        const double e = t.l * r.x[i] + t.s * r.y[i] - t.a, f = t.g * r.y[i] - t.v;
        const double nu = t.n1 + t.n2 * r.y[i], slope = t.A * e + nu;
        r.P[i] = e * slope + f * (t.phi * f + t.n3) - t.base;
        r.E[i] = t.A * e + slope;
        r.H[i] = 2 * t.phi * f + t.n3;
    }
}

Below corner(const Rows& rows, const CornerTask& task, double lambda, double* out) {
    const Rows r = rows;
    const CornerTask t = task;
    Below all{0, 0};
    for (int start = 0; start < r.size; start += block) {
        const int stop = start + block < r.size ? start + block : r.size;
        double w = 0, c = 0;
#pragma omp simd reduction(+ : w, c)
        for (int i = start; i < stop; ++i) {
            const double de = t.dl * r.x[i] + t.ds * r.y[i] - t.da, df = t.dg * r.y[i] - t.dv;
            const double cost = r.P[i] + (r.E[i] * de + r.H[i] * df);
            const double taken = cost < lambda ? r.weight[i] : 0.0;
            out[i] = cost;
            w += taken;
            c += taken * cost;
        }
        all.weight += w;
        all.cost += c;
    }
    return all;
}

void errors(const Rows& rows, const CentreTask& task, const Reach& reach) {
    const Rows r = rows;
    const CentreTask t = task;
    const Reach m = reach;
    const double n1 = size_of(t.n1), n2 = size_of(t.n2), n3 = size_of(t.n3);
#pragma omp simd
    for (int i = 0; i < r.size; ++i) {
        const double x = size_of(r.x[i]), y = size_of(r.y[i]);
        const double e = size_of(t.l * r.x[i] + t.s * r.y[i] - t.a),
                     f = size_of(t.g * r.y[i] - t.v);
        const double me = m.l * x + m.s * y + m.a, de = m.dl * x + m.ds * y + m.da;
        const double mf = m.g * y + m.v, df = m.dg * y + m.dv;
        const double terms = t.A * me * (e + de + ulp * me) + t.phi * mf * (f + df + ulp * mf) +
                             (n1 + n2 * y) * me + n3 * mf + t.base;
        const double cost = size_of(r.P[i]) + size_of(r.E[i]) * de + size_of(r.H[i]) * df;
        r.error[i] = ulp * (roundings * terms + m.sums * cost);
    }
}

double touched(const Rows& rows, const double* cost, double lambda) {
    const Rows r = rows;
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < r.size; ++i) {
        total += cost[i] - lambda < r.error[i] ? r.weight[i] * r.error[i] : 0.0;
    }
    return total;
}

void required(const Rows& rows, const double* cost, double lambda, double lift, double* out,
              double* in) {
    const Rows r = rows;
#pragma omp simd
    for (int i = 0; i < r.size; ++i) {
        const double above = cost[i] - lambda, error = r.error[i];
        const double up = above - error, down = -above - error;
        out[i] = larger(out[i], up > 0 ? lift / up : infinite);
        in[i] = larger(in[i], down > 0 ? lift / down : infinite);
    }
}

}  // namespace

extern const EllipseLoops QUADSWEEP_CONCAT(ellipse_loops_, QUADSWEEP_ISA);
const EllipseLoops QUADSWEEP_CONCAT(ellipse_loops_, QUADSWEEP_ISA) = {
    centre, corner, errors, touched, required,
};

}  // namespace quadsweep::ellipse
