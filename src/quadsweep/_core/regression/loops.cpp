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

void costs(const double* left, const double* e, double s_e, const double* u, double s_u, int size,
           double* out) {
    if (s_u == 0) {
#pragma omp simd
        for (int i = 0; i < size; ++i) out[i] = s_e * left[i] * e[i];
        return;
    }
#pragma omp simd
    for (int i = 0; i < size; ++i) out[i] = s_e * left[i] * e[i] - s_u * u[i] * u[i];
}

void multiply(const double* a, const double* b, int size, double* out) {
#pragma omp simd
    for (int i = 0; i < size; ++i) out[i] = a[i] * b[i];
}

Shares shares(const double* cost, const double* weight, int size, double threshold, double width,
              double* out) {
    double sum = 0, squares = 0;
    const double times = 1 / width;
#pragma omp simd reduction(+ : sum, squares)
    for (int i = 0; i < size; ++i) {
        const double share = smaller(larger((threshold - cost[i]) * times + 0.5, 0), 1);
        out[i] = weight[i] * share;
        sum += out[i];
        squares += out[i] * share;
    }
    return {sum, squares};
}

// Where the tangent of each row touches (bound.hpp). What is chosen at the centre keeps e; of what
// is not, the least in the box, |e| - reach, but no less than what costs lambda.
void anchors(const CornerTask& task, int start, int count, double* out) {
    const double* e = task.e + start;
    double reach[block] = {};
    for (int j = 0; j < task.inner + task.outer; ++j) {
        const double* c = task.column[j] + start;
        const double step = task.step[j] / (2 * task.s_e);  // the tangent goes twice as far
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
    double low[block], anchor[block], twice[most_dims][block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        const double *e = task.e + start, *a = anchor;
        if (task.left != nullptr) {
            a = task.left + start;
#pragma omp simd
            for (int i = 0; i < count; ++i) low[i] = task.s_e * a[i] * e[i];
        } else {
            anchors(task, start, count, anchor);
#pragma omp simd
            for (int i = 0; i < count; ++i) low[i] = task.s_e * a[i] * (2 * e[i] - a[i]);
        }
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

// The computed left factor is off by slack L, L = sum |left c|; at the corners it is multiplied by
// at most |e| + D, D = sum |reach c|, itself off by slack m, m = sum |theta c|. u is off by slack
// M, M = sum |phi c|, and at most M. The magnitude bounds the cost itself, for the rounding of
// sums.
void errors(const ErrorTask& task) {
    double left[block], m[block], d[block], mu[block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        for (int i = 0; i < count; ++i) {
            left[i] = task.offset_left;
            m[i] = task.offset_e;
            d[i] = 0;
            mu[i] = task.offset_u;
        }
        for (int j = 0; j < task.columns; ++j) {
            const double* c = task.column[j] + start;
            const bool seen = j < task.searched;
            const double in_left = j < task.in_left ? task.left[j] : 0;
            const double theta = seen ? task.theta[j] : 0;
            const double reach = seen ? task.reach[j] : 0, phi = task.phi[j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                const double size = size_of(c[i]);
                left[i] += in_left * size;
                m[i] += theta * size;
                d[i] += reach * size;
                mu[i] += phi * size;
            }
        }
        const double *e = task.e + start, *f = task.left_factor + start;
#pragma omp simd
        for (int i = 0; i < count; ++i) {
            const double right = size_of(e[i]) + d[i] + task.slack * m[i];
            const double at = size_of(f[i]) + task.slack * left[i];
            const double other = task.s_u * mu[i] * mu[i];
            task.error[start + i] =
                task.slack * (task.s_e * (left[i] * right + at * m[i]) + 2 * other);
            task.magnitude[start + i] = task.s_e * at * right + other;
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
    double right[block], mean[block], slope[block], reach[block];
    for (int start = 0; start < task.size; start += block) {
        const int count = start + block < task.size ? block : task.size - start;
        const double *left = task.left_factor + start, *u = task.u + start;
        for (int i = 0; i < count; ++i) right[i] = mean[i] = slope[i] = reach[i] = 0;
        for (int j = 0; j < task.searched; ++j) {
            const double times = task.right[j];
            const double *c = task.centre[j] + start, *s = task.slope[j] + start;
            const double* h = task.half[j] + start;
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                right[i] += times * c[i];
                mean[i] += times * s[i];
                reach[i] += size_of(times) * h[i];
            }
        }
        for (int j = 0; j < task.varying; ++j) {
            const double* h = task.half[j] + start;
            const double in_left = j < task.in_left ? task.s_e * task.left[j] : 0;
            const double in_right = j < task.searched ? task.s_e * task.right[j] : 0;
            const double phi = 2 * task.s_u * task.phi[j];
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                slope[i] += size_of(in_left * right[i] + in_right * left[i] - phi * u[i]) * h[i];
            }
        }
        const double s_e = task.s_e, s_u = task.s_u;
#pragma omp simd
        for (int i = 0; i < count; ++i) {
            const double hl = task.reach_left[start + i], hd = task.reach_difference[start + i];
            const double hu = task.reach_u[start + i], more = task.error[start + i];
            const double at = s_e * left[i] * right[i] - s_u * u[i] * u[i];
            const double about = s_e * mean[i] - s_u * task.square_u[start + i] - more;
            const double hr = reach[i];
            const double least = smaller(smaller(hd / 4, hl) * hd, hl * hr);
            const double low = at - slope[i] - s_e * least - s_u * hu * hu - more;
            const double high = at + slope[i] + s_e * hl * smaller(hl + hd, hr) + more;
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

extern const RegressionLoops QUADSWEEP_CONCAT(regression_loops_, QUADSWEEP_ISA);
const RegressionLoops QUADSWEEP_CONCAT(regression_loops_, QUADSWEEP_ISA) = {
    combine, costs,  multiply, shares,    corners, extremes,
    margins, errors, chosen,   cell_ends, product, touched,
};

}  // namespace quadsweep::regression
