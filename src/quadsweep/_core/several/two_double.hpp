// Sums of two doubles, about 32 digits (Dekker, Knuth): for scoring subsets and for changing
// columns, where a double's 16 digits may all cancel.
#pragma once

#include <cmath>

namespace quadsweep::several {

struct TwoDouble {
    double hi = 0, lo = 0;

    TwoDouble() = default;
    TwoDouble(double value) : hi(value) {}  // implicit: every double is one
    TwoDouble(double h, double l) : hi(h), lo(l) {}

    double value() const { return hi + lo; }
};

inline TwoDouble exact_sum(double a, double b) {
    const double s = a + b, added = s - a;
    return {s, (a - (s - added)) + (b - added)};
}
inline TwoDouble ordered_sum(double a, double b) {  // |a| >= |b|
    const double s = a + b;
    return {s, b - (s - a)};
}
inline TwoDouble exact_product(double a, double b) {
    constexpr double half = 134217729.0;  // 2^27 + 1
    const double p = a * b, ta = half * a, tb = half * b;
    const double ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

inline TwoDouble operator-(const TwoDouble& a) { return {-a.hi, -a.lo}; }
inline TwoDouble operator+(const TwoDouble& a, const TwoDouble& b) {
    TwoDouble s = exact_sum(a.hi, b.hi);
    const TwoDouble t = exact_sum(a.lo, b.lo);
    s = ordered_sum(s.hi, s.lo + t.hi);
    return ordered_sum(s.hi, s.lo + t.lo);
}
inline TwoDouble operator-(const TwoDouble& a, const TwoDouble& b) { return a + (-b); }
inline TwoDouble operator*(const TwoDouble& a, const TwoDouble& b) {
    const TwoDouble p = exact_product(a.hi, b.hi);
    return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
inline TwoDouble operator/(const TwoDouble& a, const TwoDouble& b) {
    const double first = a.hi / b.hi;
    const TwoDouble rest = a - b * TwoDouble(first);
    const double second = rest.hi / b.hi;
    const TwoDouble last = rest - b * TwoDouble(second);
    return ordered_sum(first, second) + TwoDouble(last.hi / b.hi);
}
inline TwoDouble square_root(const TwoDouble& a) {
    if (!(a.hi > 0)) return 0.0;
    const double root = std::sqrt(a.hi);
    return TwoDouble(root) + (a - exact_product(root, root)) / TwoDouble(2 * root);
}

}  // namespace quadsweep::several
