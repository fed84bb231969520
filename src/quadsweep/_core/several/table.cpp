#include "table.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"
#include "two_double.hpp"

namespace quadsweep::several {
namespace {

constexpr double dependent_share = 1e-20;  // of a column; 32 digits leave room for rounding
constexpr double thin_share = 1e-9;        // too thin on the reference to be scaled by it

using Long = std::vector<TwoDouble>;

TwoDouble product(const Long& a, const Long& b) {
    TwoDouble sum;
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
    return sum;
}
double size_of(const Long& a) { return std::sqrt(product(a, a).hi); }
void subtract(Long& a, const TwoDouble& times, const Long& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] - times * b[i];
}
Long gather(const std::vector<double>& column, std::span<const int> rows) {
    Long out;
    out.reserve(rows.size());
    for (int i : rows) out.emplace_back(column[i]);
    return out;
}

// What is left of y (and x) on Z by Gram-Schmidt, on some rows.
struct Fitted {
    Long x, y;
    double x_size = 0, y_size = 0;  // as given
    TwoDouble tss;                  // of y about the first column, or about zero
    int dependent = 0;

    Fitted(const Table& t, std::span<const int> rows) {
        y = gather(t.y, rows);
        y_size = size_of(y);
        if (!t.x.empty()) x = gather(t.x, rows);
        x_size = size_of(x);
        std::vector<Long> z;
        if (t.design.empty() || !t.centred) tss = product(y, y);
        for (std::size_t j = 0; j < t.design.size(); ++j) {
            Long column = gather(t.design[j], rows);
            const double given = size_of(column);
            for (const Long& before : z) {
                subtract(column, product(before, column) / product(before, before), before);
            }
            const TwoDouble left = product(column, column);
            const bool counts = std::sqrt(left.hi) > dependent_share * given;
            if (counts) {
                subtract(y, product(column, y) / left, column);
                if (!x.empty()) subtract(x, product(column, x) / left, column);
                z.push_back(std::move(column));
            } else {
                ++dependent;
            }
            if (j == 0 && t.centred) tss = product(y, y);
        }
    }
    bool vanishes(const TwoDouble& left, double given) const {
        return !(std::sqrt(left.hi) > dependent_share * given);
    }
};

}  // namespace

std::vector<int> Table::rows_of(std::span<const int> chosen) const {
    if (!grouped()) return {chosen.begin(), chosen.end()};
    std::vector<int> out;
    for (int g : chosen) out.insert(out.end(), members[g].begin(), members[g].end());
    return out;
}

double accurate_score(const Table& t, std::span<const int> units) {
    const Fitted f(t, t.rows_of(units));
    const TwoDouble b = product(f.y, f.y);
    const bool exact = f.vanishes(b, f.y_size);
    if (t.kind == Kind::lts) return exact ? -0.0 : -b.value();
    if (t.kind == Kind::r2) {
        if (f.vanishes(f.tss, f.y_size)) return undefined;
        return exact ? 1.0 : (TwoDouble(1.0) - b / f.tss).value();
    }
    const TwoDouble a = product(f.x, f.x);
    if (exact || f.vanishes(a, f.x_size)) return undefined;
    const TwoDouble c = product(f.x, f.y), most = square_root(a) * square_root(b);
    if (std::fabs(c.hi) <= dependent_share * most.hi) return 0;  // what rounding leaves of nothing
    return (c / most).value();
}

Dependence dependence(const Table& t, std::span<const int> rows) {
    const Fitted f(t, rows);
    Dependence d;
    d.dependent = f.dependent;
    if (t.kind == Kind::r2) d.no_value = f.vanishes(f.tss, f.y_size);
    if (!is_fit(t.kind)) {
        d.no_value =
            f.vanishes(product(f.y, f.y), f.y_size) || f.vanishes(product(f.x, f.x), f.x_size);
    }
    return d;
}

namespace {

// Gram-Schmidt on all rows with the products of the reference rows.
class Placing {
  public:
    Placing(const Table& t, std::span<const int> reference, int n_jobs)
        : t_(t), reference_(t.rows_of(reference)), n_jobs_(n_jobs) {}

    Placed run() {
        std::vector<Long> z;
        std::vector<double> reach_of;
        for (const auto& column : t_.design) {
            Long c(column.begin(), column.end());
            double reach = most(c);
            const double given = mean_size_all(c);
            for (const Long& before : z) reach += project(c, before);
            const double everywhere = mean_size_all(c);
            if (!(everywhere > dependent_share * given)) continue;  // dependent on all rows
            const double here = mean_size(c);
            const bool thin = !(here > thin_share * everywhere);
            const double scale = thin ? everywhere : here;
            rescale(c, scale);
            emit(c, reach / scale);
            if (!thin) z.push_back(std::move(c));
        }
        out_.fitted = static_cast<int>(out_.column.size());
        place_targets(z);
        return std::move(out_);
    }

  private:
    void place_targets(const std::vector<Long>& z) {
        Long y(t_.y.begin(), t_.y.end()), x(t_.x.begin(), t_.x.end()), total;
        double y_reach = most(y), x_reach = most(x);
        const double y_given = mean_size_all(y), x_given = mean_size_all(x);
        if (!t_.centred) total = y;
        for (std::size_t j = 0; j < z.size(); ++j) {
            y_reach += project(y, z[j]);
            x_reach += project(x, z[j]);
            if (j == 0 && t_.centred) total = y;
        }
        const double y_scale = scale_of(y), x_scale = scale_of(x);
        out_.no_value = !(mean_size_all(y) > dependent_share * y_given) && t_.kind != Kind::lts;
        if (!is_fit(t_.kind) && !(mean_size_all(x) > dependent_share * x_given)) {
            out_.no_value = true;
        }
        if (t_.kind == Kind::r2) {
            out_.no_value = !(mean_size_all(total) > dependent_share * y_given);
        }
        out_.y_scale = y_scale;
        rescale(y, y_scale);
        rescale(x, x_scale);
        const double reach = y_reach / y_scale + x_reach / x_scale;
        switch (t_.kind) {
            case Kind::r2:
                rescale(total, y_scale);
                emit(y, reach);
                emit(total, reach);
                break;
            case Kind::lts:
                emit(y, reach);
                break;
            case Kind::sign:  // 4 xy = (x + y)^2 - (x - y)^2
                emit(combined(x, -1.0, y), reach);
                emit(combined(x, 1.0, y), reach);
                break;
            case Kind::above:  // y - tau x against y + tau x
                emit(negative(x), reach);
                emit(y, reach);
                emit(x, reach);
                emit(y, reach);
                break;
            case Kind::below:  // with Y = -y: Y + tau x against Y - tau x
                emit(x, reach);
                emit(negative(y), reach);
                emit(negative(x), reach);
                emit(negative(y), reach);
                break;
        }
        const int extra = static_cast<int>(out_.column.size()) - out_.fitted;
        out_.active = t_.kind == Kind::lts ? 0 : extra / 2;
        out_.searched = static_cast<int>(out_.column.size()) - out_.active;
    }

    double scale_of(const Long& c) const {
        const double here = mean_size(c), everywhere = mean_size_all(c);
        if (here > thin_share * everywhere) return here;
        return everywhere > 0 ? everywhere : 1;
    }
    static Long combined(const Long& x, double sign, const Long& y) {
        Long out = x;
        subtract(out, TwoDouble(-sign), y);
        return out;
    }
    static Long negative(const Long& x) {
        Long out;
        for (const TwoDouble& v : x) out.push_back(-v);
        return out;
    }
    static double most(const Long& c) {
        double size = 0;
        for (const TwoDouble& v : c) size = std::max(size, std::fabs(v.hi));
        return size;
    }
    static double mean_size_all(const Long& c) {
        double sum = 0;
        for (const TwoDouble& v : c) sum += v.hi * v.hi;
        return c.empty() ? 0 : std::sqrt(sum / static_cast<double>(c.size()));
    }
    double mean_size(const Long& c) const {
        if (c.empty()) return 0;
        double sum = 0;
        for (int i : reference_) sum += c[i].hi * c[i].hi;
        return std::sqrt(sum / static_cast<double>(reference_.size()));
    }
    // Takes the part along `before` out of c; returns the largest thing subtracted.
    double project(Long& c, const Long& before) const {
        if (c.empty()) return 0;
        TwoDouble along, unit;
        for (int i : reference_) {
            along = along + c[i] * before[i];
            unit = unit + before[i] * before[i];
        }
        const TwoDouble times = along / unit;
        subtract(c, times, before);
        return std::fabs(times.hi) * most(before);
    }
    static void rescale(Long& c, double scale) {
        const TwoDouble by = TwoDouble(1.0) / TwoDouble(scale);
        for (TwoDouble& v : c) v = v * by;
    }
    void emit(const Long& c, double reach) {
        std::vector<double> column;
        column.reserve(c.size());
        for (const TwoDouble& v : c) column.push_back(v.value());
        out_.column.push_back(std::move(column));
        out_.floor.push_back(1e-14 * reach);  // an ulp of it is 100 units of the 32nd digit
    }

    const Table& t_;
    std::vector<int> reference_;
    int n_jobs_;
    Placed out_;
};

}  // namespace

Placed place(const Table& table, std::span<const int> reference, int n_jobs) {
    return Placing(table, reference, n_jobs).run();
}

}  // namespace quadsweep::several
