// The objectives, as data: a name, a sense, the scale of the value, the score of centred sums.
//
// A score is the value with the sign that makes larger better. `optimistic` is an upper bound of
// the score over intervals of (a, b, c); it lets a kernel pass over a subset on the strength of
// rounded moments without ever passing over the best one. To add an objective: a struct here, a
// line in `visit`, and what docs/architecture.md lists.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "moments.hpp"

namespace quadsweep {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double undefined = -infinity;  // the score of a subset that has no value

enum class Objective { r2, r, cov, dv, tv, var, lts, mcd };
inline constexpr int objectives = 8;

struct R2 {
    static constexpr Objective id = Objective::r2;
    static constexpr std::string_view name = "r2";
    static constexpr int sense = +1;
    static QUADSWEEP_INLINE double score(const Centred& m, double) {
        const double q = m.c / m.a * (m.c / m.b);
        return m.a > 0 && m.b > 0 ? (q > 1 ? 1.0 : q) : undefined;
    }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double) {
        const double c = std::fabs(m.c_hi) > std::fabs(m.c_lo) ? m.c_hi : m.c_lo;
        const double q = c * c / (m.a_lo * m.b_lo);
        return (m.a_lo > 0) & (m.b_lo > 0) ? q : infinity;
    }
    // optimistic(m, k) < best without the division.
    static QUADSWEEP_INLINE bool falls_short(const CentredRange& m, double, double best) {
        const double c = std::fabs(m.c_hi) > std::fabs(m.c_lo) ? m.c_hi : m.c_lo;
        return (m.a_lo > 0) & (m.b_lo > 0) & (c * c < best * (m.a_lo * m.b_lo));
    }
};

struct R {
    static constexpr Objective id = Objective::r;
    static constexpr std::string_view name = "r";
    static constexpr int sense = +1;
    static QUADSWEEP_INLINE double score(const Centred& m, double) {
        if (!(m.a > 0 && m.b > 0)) return undefined;
        const double q = m.c / std::sqrt(m.a) / std::sqrt(m.b);
        return q > 1 ? 1.0 : q < -1 ? -1.0 : q;
    }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double) {
        const double low = m.c_hi / std::sqrt(m.a_hi * m.b_hi);  // c < 0: the widest spread is best
        const double high = m.c_hi / std::sqrt(m.a_lo * m.b_lo);
        const double known = (m.a_lo > 0) & (m.b_lo > 0) ? high : infinity;
        return m.c_hi < 0 ? low : known;
    }
};

struct Cov {
    static constexpr Objective id = Objective::cov;
    static constexpr std::string_view name = "cov";
    static constexpr int sense = +1;
    static QUADSWEEP_INLINE double score(const Centred& m, double k) { return m.c / k; }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double k) {
        return m.c_hi / k;
    }
};

struct DV {
    static constexpr Objective id = Objective::dv;
    static constexpr std::string_view name = "dv";
    static constexpr int sense = +1;
    static QUADSWEEP_INLINE double score(const Centred& m, double k) { return (m.a - m.b) / k; }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double k) {
        return (m.a_hi - m.b_lo) / k;
    }
};

struct TV {
    static constexpr Objective id = Objective::tv;
    static constexpr std::string_view name = "tv";
    static constexpr int sense = -1;
    static QUADSWEEP_INLINE double score(const Centred& m, double k) { return -(m.a + m.b) / k; }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double k) {
        return -(m.a_lo + m.b_lo) / k;
    }
};

struct Var {
    static constexpr Objective id = Objective::var;
    static constexpr std::string_view name = "var";
    static constexpr int sense = -1;
    static QUADSWEEP_INLINE double score(const Centred& m, double k) { return -m.a / k; }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double k) {
        return -m.a_lo / k;
    }
};

// Residual sum of squares of the best line; all of b where x has no variance.
struct LTS {
    static constexpr Objective id = Objective::lts;
    static constexpr std::string_view name = "lts";
    static constexpr int sense = -1;
    static QUADSWEEP_INLINE double score(const Centred& m, double) {
        return -std::fmax(m.a > 0 ? m.b - m.c * (m.c / m.a) : m.b, 0.0);
    }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double) {
        const double c = std::fabs(m.c_hi) > std::fabs(m.c_lo) ? m.c_hi : m.c_lo;
        const double q = c * c / m.a_lo - m.b_lo;
        return m.a_lo > 0 ? q : infinity;
    }
};

// The determinant of the covariance matrix, whose divisor is k.
struct MCD {
    static constexpr Objective id = Objective::mcd;
    static constexpr std::string_view name = "mcd";
    static constexpr int sense = -1;
    static QUADSWEEP_INLINE double score(const Centred& m, double k) {
        return -std::fmax(m.a * m.b - m.c * m.c, 0.0) / (k * k);
    }
    static QUADSWEEP_INLINE double optimistic(const CentredRange& m, double k) {
        const double c = std::fabs(m.c_hi) > std::fabs(m.c_lo) ? m.c_hi : m.c_lo;
        const double least = m.a_lo * m.b_lo - c * c - 0x1p-50 * (m.a_lo * m.b_lo);
        return (m.a_lo > 0) & (m.b_lo > 0) & (least > 0) ? -least / (k * k) : 0.0;
    }
};

// f.template operator()<R2>(), ... for the objective named by `o`.
template <class F>
auto visit(Objective o, F&& f) {
    switch (o) {
        case Objective::r2:
            return f.template operator()<R2>();
        case Objective::r:
            return f.template operator()<R>();
        case Objective::cov:
            return f.template operator()<Cov>();
        case Objective::dv:
            return f.template operator()<DV>();
        case Objective::tv:
            return f.template operator()<TV>();
        case Objective::var:
            return f.template operator()<Var>();
        case Objective::lts:
            return f.template operator()<LTS>();
        case Objective::mcd:
            break;
    }
    return f.template operator()<MCD>();
}

inline double score(Objective o, const Centred& m, double k) {
    return visit(o, [&]<class O>() { return O::score(m, k); });
}
inline double optimistic(Objective o, const CentredRange& m, double k) {
    return visit(o, [&]<class O>() { return O::optimistic(m, k); });
}
inline int sense(Objective o) {
    return visit(o, []<class O>() { return O::sense; });
}
inline std::string_view name(Objective o) {
    return visit(o, []<class O>() { return O::name; });
}

}  // namespace quadsweep
