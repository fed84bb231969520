// Moments of a set of points, and the centred sums every objective is made of.
//
//   S = sum of (x, y, x^2, xy, y^2),   a = Sxx - Sx^2/k,   b = Syy - Sy^2/k,   c = Sxy - Sx Sy/k
#pragma once

// Headers shared with hot_loops.cpp: always inlined, so that no copy compiled for a newer
// processor is left for the linker to choose.
#ifdef _MSC_VER
#define QUADSWEEP_INLINE __forceinline
#else
#define QUADSWEEP_INLINE inline __attribute__((always_inline))
#endif

namespace quadsweep {

inline constexpr double ulp = 0x1p-52;  // of one

// Of doubles, or of whole numbers, whose sums are exact.
template <typename T>
struct MomentsOf {
    T x = 0, y = 0, xx = 0, xy = 0, yy = 0;

    void add(T px, T py) {
        x += px;
        y += py;
        xx += px * px;
        xy += px * py;
        yy += py * py;
    }
    MomentsOf& operator+=(const MomentsOf& o) {
        x += o.x;
        y += o.y;
        xx += o.xx;
        xy += o.xy;
        yy += o.yy;
        return *this;
    }
    MomentsOf& operator-=(const MomentsOf& o) {
        x -= o.x;
        y -= o.y;
        xx -= o.xx;
        xy -= o.xy;
        yy -= o.yy;
        return *this;
    }
    friend MomentsOf operator+(MomentsOf s, const MomentsOf& o) { return s += o; }
    friend MomentsOf operator-(MomentsOf s, const MomentsOf& o) { return s -= o; }
};
using Moments = MomentsOf<double>;

struct Centred {
    double a = 0, b = 0, c = 0;
};

QUADSWEEP_INLINE Centred centred(const Moments& s, double k) {
    const double mean = 1 / k;
    return {s.xx - s.x * s.x * mean, s.yy - s.y * s.y * mean, s.xy - s.x * s.y * mean};
}

// How far computed moments may be from the true ones: |error of xx| <= rel * xx + xx_abs, and so
// on. `rel` serves sums without cancellation, the absolute part sums reached by subtraction.
struct Slack {
    double rel = 0;
    double xx = 0, xy = 0, yy = 0;
};

// Squares below this are lost where products of two of them are formed: an absolute part for any
// Slack, so that what is made of them counts as not known.
inline constexpr double least_square = 1e-145;

// Intervals that contain the true a, b, c.
struct CentredRange {
    double a_lo, a_hi, b_lo, b_hi, c_lo, c_hi;
};

// |Sx| <= sqrt(k Sxx), so an error of rel in each sum moves a by at most 3 rel Sxx + O(rel^2); four
// leaves room for the operations here. For c: |Sxy|, |Sx Sy|/k <= sqrt(Sxx Syy) <= (Sxx + Syy)/2.
QUADSWEEP_INLINE CentredRange centred_range(const Moments& s, double k, const Slack& e) {
    const Centred m = centred(s, k);
    const double ea = 4 * (e.rel * s.xx + e.xx);
    const double eb = 4 * (e.rel * s.yy + e.yy);
    const double ec = 2 * e.rel * (s.xx + s.yy) + 4 * e.xy;
    return {m.a - ea, m.a + ea, m.b - eb, m.b + eb, m.c - ec, m.c + ec};
}

}  // namespace quadsweep
