// Sums and products to twice the precision of a double, and exact sums of a few doubles.
//
// A number is hi + lo with |lo| at most half an ulp of hi; operations are off by a few units of
// 2^-104 (Dekker, Knuth). Nothing here may overflow: callers scale first.
#pragma once

#include <cmath>

namespace quadsweep {

struct DoubleDouble {
    double hi = 0, lo = 0;

    double value() const { return hi + lo; }
};

// a + b, exactly.
inline DoubleDouble two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
// The same where |a| >= |b| or a = 0.
inline DoubleDouble quick_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}
// a * b, exactly.
inline DoubleDouble two_product(double a, double b) {
    constexpr double split = 134217729;  // 2^27 + 1
    const double p = a * b, ta = split * a, tb = split * b;
    const double ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    DoubleDouble s = two_sum(a.hi, b.hi);
    const DoubleDouble t = two_sum(a.lo, b.lo);
    s = quick_sum(s.hi, s.lo + t.hi);
    return quick_sum(s.hi, s.lo + t.lo);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble p = two_product(a.hi, b.hi);
    return quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
inline DoubleDouble operator*(const DoubleDouble& a, double b) {
    const DoubleDouble p = two_product(a.hi, b);
    return quick_sum(p.hi, p.lo + a.lo * b);
}
inline DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double q1 = a.hi / b.hi;
    DoubleDouble rest = a - b * q1;
    const double q2 = rest.hi / b.hi;
    rest = rest - b * q2;
    const DoubleDouble q = quick_sum(q1, q2);
    return q + DoubleDouble{rest.hi / b.hi, 0};
}
inline DoubleDouble operator/(const DoubleDouble& a, double b) { return a / DoubleDouble{b, 0}; }
inline DoubleDouble square_root(const DoubleDouble& a) {
    if (!(a.hi > 0)) return {};
    const double s = std::sqrt(a.hi);
    const DoubleDouble rest = a - two_product(s, s);
    return quick_sum(s, rest.hi / (2 * s));
}

// a 2^exponent; exact unless it leaves the range of a double.
inline DoubleDouble scaled(const DoubleDouble& a, int exponent) {
    return {std::ldexp(a.hi, exponent), std::ldexp(a.lo, exponent)};
}

// A sum kept as doubles that do not overlap, smallest first, so that nothing is lost (Shewchuk).
template <int most>
class ExactSum {
  public:
    void add(double term) {
        for (int i = 0; i < size_; ++i) {
            const DoubleDouble s = two_sum(term, part_[i]);
            term = s.hi;
            part_[i] = s.lo;
        }
        part_[size_++] = term;
    }
    void add(const DoubleDouble& term) {
        add(term.lo);
        add(term.hi);
    }
    // Off by a few units of 2^-53 of itself, whatever cancelled on the way.
    double value() const {
        double sum = 0;
        for (int i = 0; i < size_; ++i) sum += part_[i];
        return sum;
    }

  private:
    double part_[most] = {};
    int size_ = 0;
};

}  // namespace quadsweep
