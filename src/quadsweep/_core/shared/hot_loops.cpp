#include "hot_loops.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)
#define QUADSWEEP_STRING_(a) #a
#define QUADSWEEP_STRING(a) QUADSWEEP_STRING_(a)

namespace quadsweep {
namespace {

template <class O>
QUADSWEEP_INLINE bool falls_short(const CentredRange& m, double k, double best) {
    if constexpr (requires { O::falls_short(m, k, best); }) return O::falls_short(m, k, best);
    return O::optimistic(m, k) < best;
}

template <class O>
QUADSWEEP_INLINE int screened(const MomentTable& t, int size, const Moments& base, double k,
                              const Slack& slack, double best) {
    int hits = 0;
    for (int i = 0; i < size; ++i) {
        const Moments s{base.x + t.x[i], base.y + t.y[i], base.xx + t.xx[i], base.xy + t.xy[i],
                        base.yy + t.yy[i]};
        hits += !falls_short<O>(centred_range(s, k, slack), k, best);  // what is not a number too
    }
    return hits;
}

// Tables of the sweep often have four rows, too few for the widest vectors: known to be four, they
// are taken by narrower ones and not one by one.
template <class O>
int screen(const MomentTable& t, const Moments& base, double k, const Slack& slack, double best) {
    if (t.size == 4) return screened<O>(t, 4, base, k, slack, best);
    return screened<O>(t, t.size, base, k, slack, best);
}

void angles(const PencilView& v, double* key, double* reach, double* end) {
#pragma omp simd
    for (int i = 0; i < v.n; ++i) {
        const double p = v.p[i], q = v.q[i];
        const bool steep = std::fabs(p) > std::fabs(q);
        const double num = steep ? q : p, den = steep ? p : q;
        const double inverse = 1 / den;
        const double ratio = num * inverse;
        key[i] = steep ? 2 - ratio : ratio;
        reach[i] = 3 * v.error[i] * std::fabs(inverse) + 0x1p-49;
        end[i] = den > 0 ? 1.0 : 0.0;
    }
}

void eliminate(const double* in, const double* pivot, int n, double ratio, double* out) {
#pragma omp simd
    for (int i = 0; i < n; ++i) out[i] = in[i] - pivot[i] * ratio;
}

void ranks(const double* key, int n, long long* rank) {
    constexpr int lanes = 8;
    for (int block = 0; block < n; block += lanes) {
        long long smaller[lanes] = {};
        for (int j = 0; j < n; ++j) {
            const double other = key[j];
            for (int l = 0; l < lanes; ++l) smaller[l] += other < key[block + l];
        }
        for (int l = 0; l < lanes; ++l) rank[block + l] = smaller[l];
    }
}

QUADSWEEP_INLINE double smaller(double a, double b) { return a < b ? a : b; }
QUADSWEEP_INLINE double larger(double a, double b) { return a > b ? a : b; }
QUADSWEEP_INLINE double size_of(double a) { return a < 0 ? -a : a; }

void cell_costs(const CellTable& cells, const Cost& cost, const Magnitude& magnitude, double slack,
                double* low, double* high, double* low_weight, double* high_weight) {
    const CellTable c = cells;
    const Cost f = cost;
    const Magnitude m = magnitude;
    const Quadratic q = cost.about(0, 0);  // its second-order coefficients are those everywhere
    const double fx = f.e.x - f.l.x, fy = f.e.y - f.l.y;
#pragma omp simd
    for (int i = 0; i < c.size; ++i) {
        const double x = c.x[i], y = c.y[i], hx = c.hx[i], hy = c.hy[i];
        const double ev = f.e(x, y), fv = ev - f.l(x, y), pv = f.p(x, y), qv = f.q(x, y);
        const double gx = f.e.x * fv + fx * ev + f.s * (f.p.x * qv + f.q.x * pv);
        const double gy = f.e.y * fv + fy * ev + f.s * (f.p.y * qv + f.q.y * pv);
        const double at = ev * fv + f.s * (pv * qv) + f.d;
        const double mean =
            at + gx * c.mx[i] + gy * c.my[i] + q.xx * c.mxx[i] + q.xy * c.mxy[i] + q.yy * c.myy[i];
        const double slope = size_of(gx) * hx + size_of(gy) * hy + size_of(q.xy) * hx * hy;
        const double xx = q.xx * hx * hx, yy = q.yy * hy * hy;
        const double more = slack * m(size_of(x) + hx, size_of(y) + hy);
        const double l = at - slope + smaller(xx, 0) + smaller(yy, 0) - more;
        const double h = at + slope + larger(xx, 0) + larger(yy, 0) + more;
        const double width = h - l;
        const double share = width > 0 ? smaller(larger((h - mean) / width, 0), 1) : 0.5;
        low[i] = l;
        high[i] = h;
        low_weight[i] = c.weight[i] * share;
        high_weight[i] = c.weight[i] * (1 - share);
    }
}

// Sums are kept side by side in so many lanes: written out, because a reduction by pragma adds up
// in memory with some compilers, and in one lane with others, which rounds more often.
constexpr int lanes = 8;

QUADSWEEP_INLINE double sum_of(const double (&s)[lanes]) {
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

// Four lanes: the sums of both sides stay in registers.
void side_moments(const MomentTable& points, const double* key, const double* end, double at,
                  Moments* both) {
    constexpr int few = 4;
    const MomentTable t = points;
    double x[2][few] = {}, y[2][few] = {}, xx[2][few] = {}, xy[2][few] = {}, yy[2][few] = {};
    for (int i = 0; i < t.size; i += few) {
#pragma omp simd
        for (int l = 0; l < few; ++l) {
            const int j = i + l;
            const double side = key[j] < at ? end[j] : 1 - end[j];
            const double in[2] = {side == 0 ? 1.0 : 0.0, side == 1 ? 1.0 : 0.0};
            x[0][l] += in[0] * t.x[j];
            x[1][l] += in[1] * t.x[j];
            y[0][l] += in[0] * t.y[j];
            y[1][l] += in[1] * t.y[j];
            xx[0][l] += in[0] * t.xx[j];
            xx[1][l] += in[1] * t.xx[j];
            xy[0][l] += in[0] * t.xy[j];
            xy[1][l] += in[1] * t.xy[j];
            yy[0][l] += in[0] * t.yy[j];
            yy[1][l] += in[1] * t.yy[j];
        }
    }
    const auto total = [](const double (&s)[few]) { return (s[0] + s[2]) + (s[1] + s[3]); };
    for (int w = 0; w < 2; ++w)
        both[w] = {total(x[w]), total(y[w]), total(xx[w]), total(xy[w]), total(yy[w])};
}

// Blocks keep the rounding of long sums down: at most 64 + 11 + size/512 additions in a row, half
// an ulp each.
constexpr int block = 64 * lanes;

Tally tally(const double* cost, const double* weight, int size, double lambda) {
    Tally all;
    for (int start = 0; start < size; start += block) {
        const int stop = start + block < size ? start + block : size;
        const int whole = start + (stop - start) / lanes * lanes;
        double w[lanes] = {}, s[lanes] = {};
        for (int i = start; i < whole; i += lanes) {
#pragma omp simd
            for (int l = 0; l < lanes; ++l) {
                const double c = cost[i + l], own = weight[i + l];
                const double taken = c < lambda ? own : 0.0;
                w[l] += taken;
                s[l] += taken * c;
            }
        }
        double last_weight = 0, last_cost = 0;
        for (int i = whole; i < stop; ++i) {
            const double taken = cost[i] < lambda ? weight[i] : 0.0;
            last_weight += taken;
            last_cost += taken * cost[i];
        }
        all.weight += sum_of(w) + last_weight;
        all.cost += sum_of(s) + last_cost;
    }
    return all;
}

// Rows are padded with points of no weight: `size` is a multiple of the lanes.
template <class Value>
QUADSWEEP_INLINE Tally costs_of(const double* x, const double* y, const double* weight, int size,
                                double lambda, double* out, Value value) {
    Tally all;
    for (int start = 0; start < size; start += block) {
        const int stop = start + block < size ? start + block : size;
        double w[lanes] = {}, s[lanes] = {};
        for (int i = start; i < stop; i += lanes) {
#pragma omp simd
            for (int l = 0; l < lanes; ++l) {
                const double c = value(x[i + l], y[i + l]), own = weight[i + l];
                const double taken = c < lambda ? own : 0.0;
                out[i + l] = c;
                w[l] += taken;
                s[l] += taken * c;
            }
        }
        all.weight += sum_of(w);
        all.cost += sum_of(s);
    }
    return all;
}

Tally costs(const double* x, const double* y, const double* weight, int size, const Cost& cost,
            double lambda, double* out) {
    const Cost f = cost;
    if (f.p.x == f.q.x && f.p.y == f.q.y && f.p.c == f.q.c) {
        return costs_of(x, y, weight, size, lambda, out,
                        [&](double px, double py) { return f.of_square(px, py); });
    }
    return costs_of(x, y, weight, size, lambda, out,
                    [&](double px, double py) { return f(px, py); });
}

double touched(const double* x, const double* y, const double* weight, int size,
               const CornerRows& rows, const Magnitude& magnitude, double slack) {
    const CornerRows r = rows;
    const Magnitude m = magnitude;
    double total[lanes] = {};
    for (int i = 0; i < size; i += lanes) {
#pragma omp simd
        for (int l = 0; l < lanes; ++l) {
            const int j = i + l;
            const double here = m(x[j], y[j]), own = weight[j];
            const double first = smaller(r.cost[0][j] - r.lambda[0], r.cost[1][j] - r.lambda[1]);
            const double last = smaller(r.cost[2][j] - r.lambda[2], r.cost[3][j] - r.lambda[3]);
            total[l] += smaller(first, last) < slack * here ? own * here : 0.0;
        }
    }
    return sum_of(total);
}

// Copies of margin `above` that make up for `lift`.
QUADSWEEP_INLINE double copies(double lift, double above) {
    const double some = above > 0 ? lift / above : infinity;
    return lift > 0 ? some : 0.0;
}

void required(const double* x, const double* y, int size, const CornerRows& rows,
              const Magnitude& magnitude, double slack, double* out, double* in) {
    const CornerRows r = rows;
    const Magnitude m = magnitude;
#pragma omp simd
    for (int i = 0; i < size; ++i) {
        const double own = slack * m(x[i], y[i]);
        const double d0 = r.cost[0][i] - r.lambda[0], d1 = r.cost[1][i] - r.lambda[1];
        const double d2 = r.cost[2][i] - r.lambda[2], d3 = r.cost[3][i] - r.lambda[3];
        out[i] = larger(larger(copies(r.lift[0], d0 - own), copies(r.lift[1], d1 - own)),
                        larger(copies(r.lift[2], d2 - own), copies(r.lift[3], d3 - own)));
        in[i] = larger(larger(copies(r.lift[0], -d0 - own), copies(r.lift[1], -d1 - own)),
                       larger(copies(r.lift[2], -d2 - own), copies(r.lift[3], -d3 - own)));
    }
}

Moments below(const double* x, const double* y, const double* weight, const double* cost, int size,
              double lambda, double& total) {
    double n[lanes] = {}, sx[lanes] = {}, sy[lanes] = {};
    double sxx[lanes] = {}, sxy[lanes] = {}, syy[lanes] = {};
    for (int i = 0; i < size; i += lanes) {
#pragma omp simd
        for (int l = 0; l < lanes; ++l) {
            const double at = x[i + l], up = y[i + l], own = weight[i + l];
            const double w = cost[i + l] < lambda ? own : 0.0, wx = w * at, wy = w * up;
            n[l] += w;
            sx[l] += wx;
            sy[l] += wy;
            sxx[l] += wx * at;
            sxy[l] += wx * up;
            syy[l] += wy * up;
        }
    }
    total = sum_of(n);
    return {sum_of(sx), sum_of(sy), sum_of(sxx), sum_of(sxy), sum_of(syy)};
}

}  // namespace

extern const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA);
const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA) = {
    QUADSWEEP_STRING(QUADSWEEP_ISA),
    {screen<R2>, screen<R>, screen<Cov>, screen<DV>, screen<TV>, screen<Var>, screen<LTS>,
     screen<MCD>},
    eliminate,
    angles,
    ranks,
    side_moments,
    costs,
    cell_costs,
    tally,
    touched,
    required,
    below,
};

}  // namespace quadsweep
