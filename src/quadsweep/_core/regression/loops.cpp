#include "loops.hpp"

#include <cmath>

#include "shared/moments.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)

namespace quadsweep::regression {
namespace {

constexpr int block = 256;  // rows at a time, so that what is computed on the way stays close

QUADSWEEP_INLINE double smaller(double a, double b) { return a < b ? a : b; }
QUADSWEEP_INLINE double larger(double a, double b) { return a > b ? a : b; }
QUADSWEEP_INLINE double size_of(double a) { return a < 0 ? -a : a; }

void combine(const double* const* column, const double* coefficient, int count, int size,
             double* out) {
    for (int start = 0; start < size; start += block) {
        const int stop = start + block < size ? start + block : size;
        if (count == 0) {
            for (int i = start; i < stop; ++i) out[i] = 0;
            continue;
        }
        const double first = coefficient[0];
        const double* c0 = column[0];
#pragma omp simd
        for (int i = start; i < stop; ++i) out[i] = first * c0[i];
        for (int j = 1; j < count; ++j) {
            const double times = coefficient[j];
            const double* c = column[j];
#pragma omp simd
            for (int i = start; i < stop; ++i) out[i] += times * c[i];
        }
    }
}

void squares(const double* e, double s_e, const double* u, double s_u, int size, double* out) {
    if (s_u == 0) {
#pragma omp simd
        for (int i = 0; i < size; ++i) out[i] = s_e * e[i] * e[i];
        return;
    }
#pragma omp simd
    for (int i = 0; i < size; ++i) out[i] = s_e * e[i] * e[i] - s_u * u[i] * u[i];
}

// Where the tangent of each row touches (bound.hpp). What is chosen at the centre keeps e; of what
// is not, the least in the box, |e| - reach, but no less than what costs lambda.
void anchors(const CornerTask& task, int start, int count, double* out) {
    const double* e = task.e + start;
    double reach[block] = {};
    for (int j = 0; j < task.inner + task.outer; ++j) {
        const double* c = task.column[j] + start;
        const double step = task.step[j] / (2 * task.s_e);
#pragma omp simd
        for (int i = 0; i < count; ++i) reach[i] += step * size_of(c[i]);
    }
    for (int i = 0; i < count; ++i) out[i] = task.lambda;
    if (task.u_centre != nullptr) {
        const double* u = task.u_centre + start;
#pragma omp simd
        for (int i = 0; i < count; ++i) out[i] += task.s_u * u[i] * u[i];
    }
#pragma omp simd
    for (int i = 0; i < count; ++i) {
        const double size = size_of(e[i]);
        const double least = larger(std::sqrt(larger(out[i] / task.s_e, 0)), size - reach[i]);
        const double at = smaller(size, least);
        out[i] = e[i] < 0 ? -at : at;
    }
}

// Starts at the corner with all inner signs negative and doubles: one addition a corner.
void corners(const CornerTask& task) {
    const int inner = task.inner, outer = task.outer;
    double low[block], anchor[block], twice[6][block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        anchors(task, start, count, anchor);
        const double *e = task.e + start, *a = anchor;
#pragma omp simd
        for (int i = 0; i < count; ++i) low[i] = task.s_e * a[i] * (2 * e[i] - a[i]);
        for (int j = 0; j < inner + outer; ++j) {
            const double* c = task.column[j] + start;
            const double step = task.step[j];
            double* t = twice[j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                const double d = step * a[i] * c[i];
                low[i] -= d;
                t[i] = 2 * d;
            }
        }
        for (int o = 0; o < 1 << outer; ++o) {
            double* first = task.out[o << inner] + start;
            for (int i = 0; i < count; ++i) first[i] = low[i];
            for (int j = 0; j < outer; ++j) {
                if ((o >> j & 1) == 0) continue;
                const double* t = twice[inner + j];
#pragma omp simd
                for (int i = 0; i < count; ++i) first[i] += t[i];
            }
            if (task.u[o] != nullptr) {
                const double* u = task.u[o] + start;
                const double s = task.s_u;
#pragma omp simd
                for (int i = 0; i < count; ++i) first[i] -= s * u[i] * u[i];
            }
            for (int j = 0; j < inner; ++j) {
                const double* t = twice[j];
                for (int q = 0; q < 1 << j; ++q) {
                    const double* from = task.out[(o << inner) + q] + start;
                    double* to = task.out[(o << inner) + q + (1 << j)] + start;
#pragma omp simd
                    for (int i = 0; i < count; ++i) to[i] = from[i] + t[i];
                }
            }
        }
    }
}

constexpr double plenty = 1e300;

void extremes(const MarginTask& task) {
    for (int start = 0; start < task.size; start += block) {
        const int stop = start + block < task.size ? start + block : task.size;
        double *lowest = task.lowest, *highest = task.highest;
        for (int i = start; i < stop; ++i) {
            lowest[i] = plenty;
            highest[i] = -plenty;
        }
        for (int q = 0; q < task.corners; ++q) {
            const double* cost = task.cost[q];
            const double lambda = task.lambda[q];
#pragma omp simd
            for (int i = start; i < stop; ++i) {
                const double d = cost[i] - lambda;
                lowest[i] = smaller(lowest[i], d);
                highest[i] = larger(highest[i], d);
            }
        }
    }
}

void margins(const MarginTask& task) {
    for (int start = 0; start < task.size; start += block) {
        const int stop = start + block < task.size ? start + block : task.size;
        double *out = task.out, *in = task.in;
        for (int i = start; i < stop; ++i) out[i] = in[i] = plenty;
        for (int q = 0; q < task.corners; ++q) {
            const double* cost = task.cost[q];
            const double lambda = task.lambda[q], lift = task.lift[q];
            if (!(lift > 0)) continue;
#pragma omp simd
            for (int i = start; i < stop; ++i) {
                const double d = cost[i] - lambda;
                out[i] = smaller(out[i], d - lift);
                in[i] = smaller(in[i], -d - lift);
            }
        }
    }
}

// Computed e is off by slack m, m = sum |theta c|; at the corners it is multiplied by at most
// |e| + 2 D, D = sum |half c|, itself off by slack m. u is off by slack M, M = sum |phi c|, and at
// most M. The magnitude bounds the cost itself, for the rounding of sums.
void errors(const ErrorTask& task) {
    double m[block], d[block], mu[block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        for (int i = 0; i < count; ++i) {
            m[i] = task.offset_e;
            d[i] = 0;
            mu[i] = task.offset_u;
        }
        for (int j = 0; j < task.columns; ++j) {
            const double* c = task.column[j] + start;
            const double theta = j < task.searched ? task.theta[j] : 0;
            const double half = j < task.searched ? task.half[j] : 0, phi = task.phi[j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                const double size = size_of(c[i]);
                m[i] += theta * size;
                d[i] += half * size;
                mu[i] += phi * size;
            }
        }
        const double* e = task.e + start;
#pragma omp simd
        for (int i = 0; i < count; ++i) {
            const double at = size_of(e[i]), reach = at + 2 * d[i] + task.slack * m[i];
            const double other = task.s_u * mu[i] * mu[i];
            task.error[start + i] = 2 * task.slack * (task.s_e * m[i] * reach + other);
            task.magnitude[start + i] = task.s_e * at * reach + other;
        }
    }
}

double chosen(const double* cost, const double* weight, int size, double lambda, double* out) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < size; ++i) {
        const double w = cost[i] < lambda ? weight[i] : 0.0;
        out[i] = w;
        sum += w;
    }
    return sum;
}

void cell_ends(const CellTask& task) {
    double d[block], mean[block], slope[block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        const double *e = task.e + start, *u = task.u + start;
        for (int i = 0; i < count; ++i) {
            d[i] = slope[i] = 0;
            mean[i] = task.square_e[start + i];
        }
        for (int j = 0; j < task.searched; ++j) {
            const double step = task.step[j];
            if (step == 0) continue;
            const double *c = task.centre[j] + start, *s = task.slope[j] + start;
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                d[i] += step * c[i];
                mean[i] += 2 * step * s[i];
            }
        }
        for (int j = 0; j < task.varying; ++j) {
            const double* h = task.half[j] + start;
            const bool seen = j < task.searched;
            const double theta = seen ? 2 * task.s_e * task.theta[j] : 0;
            const double step = seen ? 2 * task.s_e * task.step[j] : 0;
            const double phi = 2 * task.s_u * task.phi[j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                slope[i] += size_of(theta * (e[i] + d[i]) + step * e[i] - phi * u[i]) * h[i];
            }
        }
        const double s_e = task.s_e, s_u = task.s_u;
#pragma omp simd
        for (int i = 0; i < count; ++i) {
            const double he = task.reach_e[start + i], hd = task.reach_d[start + i];
            const double hu = task.reach_u[start + i], more = task.error[start + i];
            const double at = s_e * e[i] * (e[i] + 2 * d[i]) - s_u * u[i] * u[i];
            const double about = s_e * mean[i] - s_u * task.square_u[start + i] - more;
            const double low =
                at - slope[i] - s_e * smaller(hd, 2 * he) * hd - s_u * hu * hu - more;
            const double high = at + slope[i] + s_e * he * (he + 2 * hd) + more;
            const double width = high - low;
            const double share = width > 0 ? smaller(larger((high - about) / width, 0), 1) : 0.5;
            task.low[start + i] = low;
            task.high[start + i] = high;
            task.low_weight[start + i] = task.weight[start + i] * share;
            task.high_weight[start + i] = task.weight[start + i] * (1 - share);
        }
    }
}

double product(const double* weight, const double* a, const double* b, int size) {
    double sum = 0;
    if (b == nullptr) {
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < size; ++i) sum += weight[i] * a[i];
        return sum;
    }
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < size; ++i) sum += weight[i] * a[i] * b[i];
    return sum;
}

double touched(const double* weight, const double* a, const double* lowest, const double* limit,
               int size) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < size; ++i) sum += lowest[i] < limit[i] ? weight[i] * a[i] : 0.0;
    return sum;
}

}  // namespace

extern const SeveralLoops QUADSWEEP_CONCAT(several_loops_, QUADSWEEP_ISA);
const SeveralLoops QUADSWEEP_CONCAT(several_loops_, QUADSWEEP_ISA) = {
    combine, squares, corners, extremes, margins, errors, chosen, cell_ends, product, touched,
};

}  // namespace quadsweep::regression
