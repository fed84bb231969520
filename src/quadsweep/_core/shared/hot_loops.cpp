#include "hot_loops.hpp"

#define QUADSWEEP_CONCAT_(a, b) a##b
#define QUADSWEEP_CONCAT(a, b) QUADSWEEP_CONCAT_(a, b)
#define QUADSWEEP_STRING_(a) #a
#define QUADSWEEP_STRING(a) QUADSWEEP_STRING_(a)

namespace quadsweep {
namespace {

template <class O>
int screen(const MomentTable& t, const Moments& base, double k, const Slack& slack, double best) {
    int hits = 0;
    for (int i = 0; i < t.size; ++i) {
        const Moments s{base.x + t.x[i], base.y + t.y[i], base.xx + t.xx[i], base.xy + t.xy[i],
                        base.yy + t.yy[i]};
        hits += !(O::optimistic(centred_range(s, k, slack), k) < best);  // what is not a number too
    }
    return hits;
}

void angles(const PencilView& v, double* key, double* reach, long long* end) {
    for (int i = 0; i < v.n; ++i) {
        const double p = v.p[i], q = v.q[i];
        const bool steep = std::fabs(p) > std::fabs(q);
        const double num = steep ? q : p, den = steep ? p : q;
        const double inverse = 1 / den;
        const double ratio = num * inverse;
        key[i] = steep ? 2 - ratio : ratio;
        reach[i] = 3 * v.error[i] * std::fabs(inverse) + 0x1p-49;
        end[i] = den > 0;
    }
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

// The error of p_i q_j - p_j q_i, given errors e_i, e_j that exceed an ulp of the coordinates.
int sides(const PencilView& v, int j, long long* side, int* hidden) {
    const double pj = v.p[j], qj = v.q[j], ej = v.error[j];
    const double mj = std::fabs(pj) + std::fabs(qj) + ej;
    long long ahead = 0, unknown = 0;
    for (int i = 0; i < v.n; ++i) {
        const double p = v.p[i], q = v.q[i];
        const double cross = p * qj - pj * q;
        const double error = 4 * ((std::fabs(p) + std::fabs(q)) * ej + mj * v.error[i]);
        const long long positive = cross > error, negative = cross < -error;
        side[i] = positive ? 1 : (negative ? 0 : -1);
        ahead += positive;
        unknown += 1 - positive - negative;
    }
    *hidden = static_cast<int>(unknown);
    return static_cast<int>(ahead);
}

void side_moments(const MomentTable& t, const long long* side, Moments* both) {
    for (int which = 0; which < 2; ++which) {
        double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
#pragma omp simd reduction(+ : x, y, xx, xy, yy)
        for (int i = 0; i < t.size; ++i) {
            const bool in = side[i] == which;
            x += in ? t.x[i] : 0;
            y += in ? t.y[i] : 0;
            xx += in ? t.xx[i] : 0;
            xy += in ? t.xy[i] : 0;
            yy += in ? t.yy[i] : 0;
        }
        both[which] = Moments{x, y, xx, xy, yy};
    }
}

void costs(const double* x, const double* y, int size, const Cost& cost, double* out) {
    const Cost f = cost;
#pragma omp simd
    for (int i = 0; i < size; ++i) out[i] = f(x[i], y[i]);
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

// Blocks keep the rounding of long sums down: at most 64 + size/512 additions in a row.
constexpr int block = 512;

Tally tally(const double* cost, const double* weight, int size, double lambda) {
    Tally all;
    for (int start = 0; start < size; start += block) {
        const int stop = start + block < size ? start + block : size;
        double w = 0, s = 0;
#pragma omp simd reduction(+ : w, s)
        for (int i = start; i < stop; ++i) {
            const double taken = cost[i] < lambda ? weight[i] : 0.0;
            w += taken;
            s += taken * cost[i];
        }
        all.weight += w;
        all.cost += s;
    }
    return all;
}

double touched(const double* x, const double* y, const double* weight, int size,
               const CornerRows& rows, const Magnitude& magnitude, double slack) {
    const CornerRows r = rows;
    const Magnitude m = magnitude;
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < size; ++i) {
        const double here = m(x[i], y[i]);
        const double first = smaller(r.cost[0][i] - r.lambda[0], r.cost[1][i] - r.lambda[1]);
        const double last = smaller(r.cost[2][i] - r.lambda[2], r.cost[3][i] - r.lambda[3]);
        total += smaller(first, last) < slack * here ? weight[i] * here : 0.0;
    }
    return total;
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
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
#pragma omp simd reduction(+ : n, sx, sy, sxx, sxy, syy)
    for (int i = 0; i < size; ++i) {
        const double w = cost[i] < lambda ? weight[i] : 0.0;
        const double wx = w * x[i], wy = w * y[i];
        n += w;
        sx += wx;
        sy += wy;
        sxx += wx * x[i];
        sxy += wx * y[i];
        syy += wy * y[i];
    }
    total = n;
    return {sx, sy, sxx, sxy, syy};
}

void grid_cells(const double* x, const double* y, int size, const GridSide& x_side,
                const GridSide& y_side, int across, int* cell) {
    const GridSide h = x_side, v = y_side;
#pragma omp simd
    for (int i = 0; i < size; ++i) cell[i] = v.cell(y[i]) * across + h.cell(x[i]);
}

}  // namespace

extern const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA);
const HotLoops QUADSWEEP_CONCAT(hot_loops_, QUADSWEEP_ISA) = {
    QUADSWEEP_STRING(QUADSWEEP_ISA),
    {screen<R2>, screen<R>, screen<Cov>, screen<DV>, screen<TV>, screen<Var>, screen<LTS>,
     screen<MCD>},
    angles,
    ranks,
    sides,
    side_moments,
    costs,
    cell_costs,
    tally,
    touched,
    required,
    below,
    grid_cells,
};

}  // namespace quadsweep
