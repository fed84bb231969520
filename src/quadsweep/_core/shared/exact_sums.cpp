// One pass to scale, one for the means, one for the sums. A difference of two doubles is exact in
// double-double, so the offset of a column costs nothing; with d = x - x0 and m the mean of d,
//
//   a = sum (d - m)^2 - (sum (d - m))^2 / k
//
// where the last term makes up for the rounding of m.
#include "exact_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "points.hpp"

namespace quadsweep {
namespace {

constexpr std::size_t most_in_triples = 40;  // points, of which there are k^3 / 6

// Exponent that brings the largest entry into [1, 2).
int exponent_of(const std::vector<double>& v) {
    double most = 0;
#pragma omp simd reduction(max : most)
    for (std::size_t i = 0; i < v.size(); ++i) most = std::max(most, std::fabs(v[i]));
    return most > 0 ? std::ilogb(most) : 0;
}

bool not_constant(const std::vector<double>& v) {
    int others = 0;
#pragma omp simd reduction(| : others)
    for (std::size_t i = 0; i < v.size(); ++i) others |= v[i] != v[0] ? 1 : 0;
    return others != 0;
}

// A column of the subset, less its first entry, scaled.
struct Column {
    Column(std::span<const double> v, std::span<const int> subset) {
        entry.resize(subset.size());
        for (std::size_t i = 0; i < subset.size(); ++i) entry[i] = v[subset[i]];
        exponent = exponent_of(entry);
        place(entry, 0, exponent, entry);
        varies = not_constant(entry);
    }
    DoubleDouble from_first(std::size_t i) const { return two_sum(entry[i], -entry[0]); }

    std::vector<double> entry;
    int exponent = 0;
    bool varies = false;
    DoubleDouble mean;  // of from_first
};

constexpr std::size_t block = 256;  // points whose sums are doubles, where there are very many

// Of very many points to about the precision of a double: the sums make up for what it is off by.
void set_mean(Column& column, bool precise) {
    const std::vector<double>& v = column.entry;
    DoubleDouble sum;
    if (precise) {
        for (std::size_t i = 0; i < v.size(); ++i) sum = sum + column.from_first(i);
    } else {
        for (std::size_t start = 0; start < v.size(); start += block) {
            const std::size_t end = std::min(v.size(), start + block);
            double part = 0;
#pragma omp simd reduction(+ : part)
            for (std::size_t i = start; i < end; ++i) part += v[i] - v[0];
            sum = sum + DoubleDouble{part, 0};
        }
    }
    column.mean = sum / static_cast<double>(v.size());
}

void add_precisely(const Column& x, const Column& y, ExactSums& s) {
    DoubleDouble su, sw;
    for (std::size_t i = 0; i < x.entry.size(); ++i) {
        const DoubleDouble u = x.from_first(i) - x.mean, w = y.from_first(i) - y.mean;
        s.a = s.a + u * u;
        s.b = s.b + w * w;
        s.c = s.c + u * w;
        su = su + u;
        sw = sw + w;
    }
    const double k = static_cast<double>(x.entry.size());
    s.a = s.a - su * su / k;
    s.b = s.b - sw * sw / k;
    s.c = s.c - su * sw / k;
}

DoubleDouble squared_residuals(const Column& x, const Column& y, const DoubleDouble& slope) {
    DoubleDouble squares, sum;
    for (std::size_t i = 0; i < x.entry.size(); ++i) {
        const DoubleDouble u = x.from_first(i) - x.mean, w = y.from_first(i) - y.mean;
        const DoubleDouble e = w - slope * u;
        squares = squares + e * e;
        sum = sum + e;
    }
    return squares - sum * sum / static_cast<double>(x.entry.size());
}

// Twice the area of three points' triangle, whatever cancels.
double triple(const Column& x, const Column& y, std::size_t i, std::size_t j, std::size_t l) {
    ExactSum<16> area;
    const auto add = [&](const Column& p, std::size_t to, const Column& q, std::size_t other,
                         double sign) {
        const DoubleDouble u = two_sum(p.entry[to], -p.entry[i]);
        const DoubleDouble w = two_sum(q.entry[other], -q.entry[i]);
        for (const double s : {u.lo, u.hi}) {
            for (const double t : {w.lo, w.hi}) area.add(two_product(sign * s, t));
        }
    };
    add(x, j, y, l, 1);
    add(x, l, y, j, -1);
    return area.value();
}

// Whether all points are on the line through the first and one beside it, decided exactly: x
// varies.
bool on_one_line(const Column& x, const Column& y) {
    const auto differs = [&](double e) { return e != x.entry[0]; };
    const auto second = std::find_if(x.entry.begin(), x.entry.end(), differs) - x.entry.begin();
    for (std::size_t l = 0; l < x.entry.size(); ++l) {
        if (triple(x, y, 0, static_cast<std::size_t>(second), l) != 0) return false;
    }
    return true;
}

// Where residuals are lost even in double-double (points close together next to one far away):
// RSS = (sum over triples of the squared determinant) / (k a), by Cauchy and Binet, all terms >= 0.
DoubleDouble residuals_by_triples(const Column& x, const Column& y, const DoubleDouble& a) {
    if (on_one_line(x, y)) return {};
    const std::size_t k = x.entry.size();
    DoubleDouble squares;
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = i + 1; j < k; ++j) {
            for (std::size_t l = j + 1; l < k; ++l) {
                const double d = triple(x, y, i, j, l);
                squares = squares + two_product(d, d);
            }
        }
    }
    return squares / (a * static_cast<double>(k));
}

// Deviations rounded to doubles, sums in blocks: for very many points.
void add_quickly(const Column& x, const Column& y, ExactSums& s) {
    const std::size_t n = x.entry.size();
    double sum_u = 0, sum_w = 0;
    for (std::size_t start = 0; start < n; start += block) {
        const std::size_t end = std::min(n, start + block);
        double a = 0, b = 0, c = 0, su = 0, sw = 0;
#pragma omp simd reduction(+ : a, b, c, su, sw)
        for (std::size_t i = start; i < end; ++i) {
            const double u = (x.entry[i] - x.entry[0]) - x.mean.hi;
            const double w = (y.entry[i] - y.entry[0]) - y.mean.hi;
            a += u * u;
            b += w * w;
            c += u * w;
            su += u;
            sw += w;
        }
        s.a = s.a + DoubleDouble{a, 0};
        s.b = s.b + DoubleDouble{b, 0};
        s.c = s.c + DoubleDouble{c, 0};
        sum_u += su;
        sum_w += sw;
    }
    const double k = static_cast<double>(n);
    s.a = s.a - two_product(sum_u, sum_u) / k;
    s.b = s.b - two_product(sum_w, sum_w) / k;
    s.c = s.c - two_product(sum_u, sum_w) / k;
}

DoubleDouble not_below_zero(const DoubleDouble& a) { return a.hi > 0 ? a : DoubleDouble{}; }

// p 2^ep + q 2^eq over k.
WideScore combined(const DoubleDouble& p, int ep, const DoubleDouble& q, int eq, double k) {
    constexpr int nothing = -100000;
    const int top = std::max(p.hi != 0 ? ep + std::ilogb(p.hi) : nothing,
                             q.hi != 0 ? eq + std::ilogb(q.hi) : nothing);
    if (top == nothing) return {{}, 0};
    return {(scaled(p, ep - top) + scaled(q, eq - top)) / k, top};
}

}  // namespace

ExactSums exact_sums(std::span<const double> xs, std::span<const double> ys,
                     std::span<const int> subset, bool precise) {
    Column x(xs, subset), y(ys, subset);
    set_mean(x, precise);
    set_mean(y, precise);
    ExactSums s;
    s.ex = x.exponent;
    s.ey = y.exponent;
    precise ? add_precisely(x, y, s) : add_quickly(x, y, s);
    if (!x.varies) s.a = s.c = {};
    if (!y.varies) s.b = s.c = {};
    s.rest = s.b;
    if (x.varies && s.a.hi > 0) {
        const DoubleDouble slope = s.c / s.a;
        s.rest = not_below_zero(s.b - slope * s.c);
        if (s.rest.hi < 1e-3 * s.b.hi) s.rest = not_below_zero(squared_residuals(x, y, slope));
        if (s.rest.hi < 0x1p-80 * s.b.hi && x.entry.size() <= most_in_triples) {
            s.rest = residuals_by_triples(x, y, s.a);
        }
    }
    return s;
}

WideScore wide_score(const ExactSums& s, double k, Objective objective) {
    const bool varies = s.a.hi > 0 && s.b.hi > 0;
    switch (objective) {
        case Objective::r2: {
            if (!varies) return {};
            const DoubleDouble q = s.c / s.a * (s.c / s.b);
            return {q.hi >= 1 ? DoubleDouble{1, 0} : q, 0};
        }
        case Objective::r: {
            if (!varies) return {};
            const DoubleDouble q = s.c / square_root(s.a) / square_root(s.b);
            return {q.hi >= 1 ? DoubleDouble{1, 0} : q.hi <= -1 ? DoubleDouble{-1, 0} : q, 0};
        }
        case Objective::cov:
            return {s.c / k, s.ex + s.ey};
        case Objective::dv:
            return combined(s.a, 2 * s.ex, -s.b, 2 * s.ey, k);
        case Objective::tv:
            return combined(-s.a, 2 * s.ex, -s.b, 2 * s.ey, k);
        case Objective::var:
            return {-s.a / k, 2 * s.ex};
        case Objective::lts:
            return {-s.rest, 2 * s.ey};
        case Objective::mcd:
            break;
    }
    return {-(s.a * s.rest) / (k * k), 2 * (s.ex + s.ey)};
}

}  // namespace quadsweep
