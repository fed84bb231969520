// A point's cost at one corner of a box: a quadratic in (x, y), kept as a sum of two products of
// affine functions so that it keeps its accuracy far from the origin.
//
//   cost(x, y) = e (e - l) + s p q + d
#pragma once

#include <cmath>

#include "moments.hpp"

namespace quadsweep {

struct Affine {
    double x = 0, y = 0, c = 0;

    QUADSWEEP_INLINE double operator()(double px, double py) const { return x * px + y * py + c; }
    friend Affine operator+(Affine f, const Affine& g) { return {f.x + g.x, f.y + g.y, f.c + g.c}; }
    friend Affine operator-(Affine f, const Affine& g) { return {f.x - g.x, f.y - g.y, f.c - g.c}; }
    friend Affine operator*(double a, const Affine& f) { return {a * f.x, a * f.y, a * f.c}; }
    friend Affine operator+(Affine f, double c) { return {f.x, f.y, f.c + c}; }
    friend Affine operator-(Affine f, double c) { return {f.x, f.y, f.c - c}; }
};

struct Quadratic {
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0, c = 0;

    double total(const Moments& s, double weight) const {
        return xx * s.xx + xy * s.xy + yy * s.yy + x * s.x + y * s.y + c * weight;
    }
};

struct Cost {
    Affine e, l, p, q;
    double s = 0, d = 0;

    QUADSWEEP_INLINE double operator()(double x, double y) const {
        const double ev = e(x, y);
        return ev * (ev - l(x, y)) + s * (p(x, y) * q(x, y)) + d;
    }
    // The same where p is q.
    QUADSWEEP_INLINE double of_square(double x, double y) const {
        const double ev = e(x, y), pv = p(x, y);
        return ev * (ev - l(x, y)) + s * (pv * pv) + d;
    }
    // The same polynomial about (x0, y0).
    Quadratic about(double x0, double y0) const {
        const double ev = e(x0, y0), fv = ev - l(x0, y0), pv = p(x0, y0), qv = q(x0, y0);
        const double fx = e.x - l.x, fy = e.y - l.y;
        return {e.x * fx + s * p.x * q.x,
                e.x * fy + e.y * fx + s * (p.x * q.y + p.y * q.x),
                e.y * fy + s * p.y * q.y,
                e.x * fv + fx * ev + s * (p.x * qv + q.x * pv),
                e.y * fv + fy * ev + s * (p.y * qv + q.y * pv),
                ev * fv + s * pv * qv + d};
    }
};

// Coefficients that bound the terms of some costs: |terms of cost(x, y)| <= xx x^2 + yy y^2 + c.
struct Magnitude {
    double xx = 0, yy = 0, c = 0;

    static double larger(double a, double b) { return a > b ? a : b; }
    void cover(const Cost& f) {
        const double s = std::fabs(f.s);
        const auto most = [&](double e, double l, double p, double q) {
            const double f1 = std::fabs(e) + std::fabs(l);
            const double f2 = larger(std::fabs(p), std::fabs(q));
            return 3 * (f1 * f1 + s * f2 * f2);
        };
        xx = larger(xx, most(f.e.x, f.l.x, f.p.x, f.q.x));
        yy = larger(yy, most(f.e.y, f.l.y, f.p.y, f.q.y));
        c = larger(c, most(f.e.c, f.l.c, f.p.c, f.q.c) + std::fabs(f.d));
    }
    QUADSWEEP_INLINE double operator()(double x, double y) const {
        return xx * x * x + yy * y * y + c;
    }
    double total(const Moments& s, double weight) const {
        return xx * s.xx + yy * s.yy + c * weight;
    }
};

}  // namespace quadsweep
