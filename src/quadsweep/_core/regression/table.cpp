#include "table.hpp"

#include <algorithm>
#include <numeric>

#include "shared/parallel.hpp"

namespace quadsweep::regression {
namespace {

constexpr double dependent_share = 1e-20;  // of a column; 32 digits leave room for rounding
constexpr double thin_share = 1e-9;        // too thin on the reference to be scaled by it

constexpr double row_rounding = 1e-30;  // what each row that is summed may add, relative
// As many columns as rows leave nothing of any other, if their determinant is certainly not zero:
// of up to seven columns of length one it is off by at most 1e-27 (docs/theory.md).
constexpr double certain_share = 1e-26;
constexpr DoubleDouble one{1, 0};

using Long = std::vector<DoubleDouble>;

DoubleDouble product(const Long& a, const Long& b) {
    DoubleDouble sum;
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
    return sum;
}
double size_of(const Long& a) { return std::sqrt(product(a, a).hi); }
void subtract(Long& a, const DoubleDouble& times, const Long& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] - times * b[i];
}
Long gather(const Column& column, std::span<const int> rows) {
    Long out;
    out.reserve(rows.size());
    for (int i : rows) out.push_back(column.at(i));
    return out;
}
Long gather(const Column& column) {
    Long out;
    out.reserve(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) out.push_back(column.at(i));
    return out;
}

// What is left of y (and x) on Z by Gram-Schmidt, on some rows.
struct Fitted {
    Long x, y;
    double x_size = 0, y_size = 0;    // as given
    double x_about = 0, y_about = 0;  // without the first column's part
    DoubleDouble tss;                 // of y about the first column, or about zero
    int dependent = 0;
    double lost = 1;            // how much smaller the first column's part makes any of Z, at most
    double share = 1;           // of what is left then, what the others before it leave, multiplied
    bool nothing_left = false;  // of any column, for certain

    Fitted(const Table& t, std::span<const int> rows) {
        y = gather(t.y, rows);
        y_size = size_of(y);
        if (!t.x.empty()) x = gather(t.x, rows);
        x_size = size_of(x);
        x_about = x_size, y_about = y_size;
        std::vector<Long> z;
        if (t.design.empty() || !t.centred) tss = product(y, y);
        for (std::size_t j = 0; j < t.design.size(); ++j) {
            Long column = gather(t.design[j], rows);
            const double given = size_of(column);
            double about = given;
            for (const Long& before : z) {
                subtract(column, product(before, column) / product(before, before), before);
                if (&before == &z.front()) about = size_of(column);
            }
            const DoubleDouble left = product(column, column);
            const bool counts = !nothing_left && std::sqrt(left.hi) > dependent_share * given;
            if (counts) {
                subtract(y, product(column, y) / left, column);
                if (!x.empty()) subtract(x, product(column, x) / left, column);
                z.push_back(std::move(column));
                if (z.size() == 1) x_about = size_of(x), y_about = size_of(y);
                lost = std::max(lost, given / about);
                share *= std::sqrt(left.hi) / about;
                nothing_left = z.size() == rows.size() && share > certain_share * lost;
            } else {
                ++dependent;
            }
            if (j == 0 && t.centred) tss = product(y, y);
        }
        if (nothing_left) {
            y.assign(y.size(), {});
            x.assign(x.size(), {});
        }
    }
    bool vanishes(const DoubleDouble& left, double given) const {
        return !(std::sqrt(left.hi) > dependent_share * given);
    }
    // Offsets make all columns alike, but that is over once the first column, the intercept, is
    // taken off: from then on they are columns with a relative error of `lost`.
    double rounding_of(double given, double about) const {
        return std::max(given, lost * about) * row_rounding * static_cast<double>(y.size()) / share;
    }
    // By which angle rounding may have turned what is left of a column that is known.
    double turned(const DoubleDouble& left, double given, double about) const {
        return 2 * rounding_of(given, about) / std::sqrt(left.hi);
    }
    // Whether what is left of a column is certainly nothing, or has nine digits.
    bool known(const DoubleDouble& left, double given, double about) const {
        if (nothing_left) return true;
        const double size = std::sqrt(std::max(left.hi, 0.0));
        const double rounding = rounding_of(given, about);
        if (2 * size < dependent_share * given) return 2 * rounding < dependent_share * given;
        return given == 0 || (size > 2 * dependent_share * given && size > 4e8 * rounding);
    }
};

}  // namespace

std::vector<int> Table::rows_of(std::span<const int> chosen) const {
    if (!grouped()) return {chosen.begin(), chosen.end()};
    std::vector<int> out;
    for (int g : chosen) out.insert(out.end(), members[g].begin(), members[g].end());
    return out;
}

Scored score_of(const Table& t, std::span<const int> units) {
    const Fitted f(t, t.rows_of(units));
    const DoubleDouble b = product(f.y, f.y);
    const bool exact = f.vanishes(b, f.y_size), known = f.known(b, f.y_size, f.y_about);
    if (t.kind == Kind::lts) return {exact ? -0.0 : -b.value(), known};
    if (t.kind == Kind::r2) {
        if (f.vanishes(f.tss, f.y_size)) return {undefined, f.known(f.tss, f.y_size, f.y_about)};
        return {exact ? 1.0 : (one - b / f.tss).value(), known};
    }
    const DoubleDouble a = product(f.x, f.x);
    const bool both = known && f.known(a, f.x_size, f.x_about);
    if (exact || f.vanishes(a, f.x_size)) return {undefined, both};
    const DoubleDouble c = product(f.x, f.y), most = square_root(a) * square_root(b);
    if (std::fabs(c.hi) <= dependent_share * most.hi) return {0, both};  // rounding of nothing
    const double off = f.turned(a, f.x_size, f.x_about) + f.turned(b, f.y_size, f.y_about);
    return {(c / most).value(), both, off};
}

double accurate_score(const Table& t, std::span<const int> units) {
    return score_of(t, units).score;
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
        std::vector<Reaching> z;
        for (const auto& column : t_.design) {
            Long c = gather(column);
            double reach = most(c);
            const double given = mean_size_all(c);
            for (const Reaching& before : z) reach += project(c, before);
            const double everywhere = mean_size_all(c);
            if (!(everywhere > dependent_share * given)) continue;  // dependent on all rows
            const double here = mean_size(c);
            const bool thin = !(here > thin_share * everywhere);
            const double scale = thin ? everywhere : here;
            rescale(c, scale);
            emit(c, reach / scale);
            const int at = static_cast<int>(out_.column.size()) - 1;
            if (!thin) z.push_back({std::move(c), reach / scale, at});
        }
        out_.fitted = static_cast<int>(out_.column.size());
        place_targets(z);
        return std::move(out_);
    }

  private:
    // A column and the largest thing that was rounded on the way to it.
    struct Reaching {
        Long column;
        double reach;
        int at;  // among the search's columns
    };

    void place_targets(const std::vector<Reaching>& z) {
        Long y = gather(t_.y), x = gather(t_.x), total;
        double y_reach = most(y), x_reach = most(x);
        const double y_given = mean_size_all(y), x_given = mean_size_all(x);
        if (!t_.centred) total = y;
        std::vector<double> taken_off(out_.fitted + 1, 0.0);  // of `total`, to leave y
        for (std::size_t j = 0; j < z.size(); ++j) {
            const bool from_total = !total.empty();
            double times = 0;
            y_reach += project(y, z[j], &times);
            x_reach += project(x, z[j]);
            if (j == 0 && t_.centred) total = y;
            if (from_total) taken_off[z[j].at] = times;
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
                for (double& times : taken_off) times /= y_scale;
                taken_off[out_.fitted] = 1;
                out_.combination = {taken_off};
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
        if (t_.kind == Kind::above || t_.kind == Kind::below) {
            out_.combination.assign(2, std::vector<double>(out_.fitted + 2, 0.0));
            out_.combination[0][out_.fitted] = -1;
            out_.combination[1][out_.fitted + 1] = 1;
        }
        out_.searched = static_cast<int>(out_.column.size()) - out_.active;
    }

    double scale_of(const Long& c) const {
        const double here = mean_size(c), everywhere = mean_size_all(c);
        if (here > thin_share * everywhere) return here;
        return everywhere > 0 ? everywhere : 1;
    }
    static Long combined(const Long& x, double sign, const Long& y) {
        Long out = x;
        subtract(out, {-sign, 0}, y);
        return out;
    }
    static Long negative(const Long& x) {
        Long out;
        for (const DoubleDouble& v : x) out.push_back(-v);
        return out;
    }
    static double most(const Long& c) {
        double size = 0;
        for (const DoubleDouble& v : c) size = std::max(size, std::fabs(v.hi));
        return size;
    }
    static double mean_size_all(const Long& c) {
        double sum = 0;
        for (const DoubleDouble& v : c) sum += v.hi * v.hi;
        return c.empty() ? 0 : std::sqrt(sum / static_cast<double>(c.size()));
    }
    double mean_size(const Long& c) const {
        if (c.empty()) return 0;
        double sum = 0;
        for (int i : reference_) sum += c[i].hi * c[i].hi;
        return std::sqrt(sum / static_cast<double>(reference_.size()));
    }
    // Takes the part along `from` out of c; returns the largest thing subtracted, or rounded in
    // what is subtracted.
    double project(Long& c, const Reaching& from, double* taken_off = nullptr) const {
        if (c.empty()) return 0;
        const Long& before = from.column;
        DoubleDouble along, unit;
        for (int i : reference_) {
            along = along + c[i] * before[i];
            unit = unit + before[i] * before[i];
        }
        const DoubleDouble times = along / unit;
        subtract(c, times, before);
        if (taken_off != nullptr) *taken_off = times.value();
        return std::fabs(times.hi) * (most(before) + from.reach);
    }
    static void rescale(Long& c, double scale) {
        const DoubleDouble by = one / scale;
        for (DoubleDouble& v : c) v = v * by;
    }
    void emit(const Long& c, double reach) {
        std::vector<double> column;
        column.reserve(c.size());
        for (const DoubleDouble& v : c) column.push_back(v.value());
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

}  // namespace quadsweep::regression
