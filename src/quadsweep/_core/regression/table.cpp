#include "table.hpp"

#include <algorithm>
#include <numeric>

#include "shared/parallel.hpp"
#include "span.hpp"

namespace quadsweep::regression {
namespace {

constexpr double thin_share = 1e-9;     // too thin on the reference to be scaled by it
constexpr double row_rounding = 1e-30;  // what each row that is summed may add, relative
constexpr double nine_digits = 4e8;     // times its rounding: then a length is known
constexpr double fit_rounding = 1e-13;  // of R2, or of a residual sum of squares: it is known
constexpr double exact_fit = 0x1p-100;  // of a sum of squares: what is left then is rounding
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

// Squares of smaller columns lose digits.
bool vanishes_below(const Long& a, double size) {
    const auto zero = [](const DoubleDouble& v) { return v.hi == 0; };
    return size < 1e-120 && !std::all_of(a.begin(), a.end(), zero);
}

// What is left of y (and x) on Z by Gram-Schmidt, on some rows. Where rounding might hide whether
// anything is left of a column, whole numbers tell (span.hpp).
struct Fitted {
    Long x, y;
    double x_size = 0, y_size = 0;    // as given
    double x_about = 0, y_about = 0;  // without the first column's part
    DoubleDouble tss;                 // of y about the first column, or about zero
    bool varies = true;               // tss is not zero
    bool x_left = false, y_left = true;
    int dependent = 0;
    double lost = 1;      // how much smaller the first column's part makes any of Z, at most
    double share = 1;     // of what is left then, what the others before it leave, multiplied
    bool certain = true;  // which columns depend on which

    Fitted(const Table& t, std::span<const int> rows) : rows_(rows) {
        y = gather(t.y, rows);
        y_size = size_of(y);
        if (!t.x.empty()) x = gather(t.x, rows);
        x_size = size_of(x);
        x_about = x_size, y_about = y_size;
        certain = t.exact && !vanishes_below(y, y_size) && !vanishes_below(x, x_size);
        if (!t.centred) set_total();
        for (const Column& given : t.design) {
            take_off(given);
            if (&given == &t.design.front() && t.centred) {
                varies = is_left(t.y, y, y_size, y_about);
                set_total();
            }
        }
        y_left = is_left(t.y, y, y_size, y_about);
        if (!y_left) y.assign(y.size(), {});
        if (x.empty()) return;
        x_left = is_left(t.x, x, x_size, x_about);
        if (!x_left) x.assign(x.size(), {});
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
    bool known(const Long& left, double given, double about) const {
        return size_of(left) > nine_digits * rounding_of(given, about);
    }

  private:
    void set_total() {
        tss = product(y, y);
        varies &= tss.hi > 0;
    }
    void take_off(const Column& given) {
        Long column = gather(given, rows_);
        const double size = size_of(column);
        certain &= !vanishes_below(column, size);
        double about = size;
        for (const Long& before : z_) {
            subtract(column, product(before, column) / product(before, before), before);
            if (&before == &z_.front()) about = size_of(column);
        }
        const DoubleDouble left = product(column, column);
        if (!is_left(given, column, size, about)) {
            ++dependent;
            return;
        }
        if (!(left.hi > 0)) {  // and 32 digits show nothing of it
            certain = false;
            return;
        }
        subtract(y, product(column, y) / left, column);
        if (!x.empty()) subtract(x, product(column, x) / left, column);
        lost = std::max(lost, size / about);
        share *= std::sqrt(left.hi) / about;
        z_.push_back(std::move(column));
        counted_.push_back(&given);
        if (z_.size() == 1) x_about = size_of(x), y_about = size_of(y);
    }
    // Whether a column is not a combination of those counted so far.
    bool is_left(const Column& given, const Long& left, double size, double about) {
        if (known(left, size, about) && z_.size() < rows_.size()) return true;
        const Span place = place_in_span(counted_, given, rows_);
        certain &= place != Span::unknown;
        return place != Span::inside;
    }

    std::span<const int> rows_;
    std::vector<Long> z_;
    std::vector<const Column*> counted_;  // as given, of which z_ is what is left
};

}  // namespace

std::vector<int> Table::rows_of(std::span<const int> chosen) const {
    if (!grouped()) return {chosen.begin(), chosen.end()};
    std::vector<int> out;
    for (int g : chosen) out.insert(out.end(), members[g].begin(), members[g].end());
    return out;
}

Scored score_of(const Table& t, std::span<const int> units) {
    const std::vector<int> rows = t.rows_of(units);
    const Fitted f(t, rows);
    const DoubleDouble b = product(f.y, f.y);
    if (is_fit(t.kind)) {
        const double rounding = f.y_left ? f.rounding_of(f.y_size, f.y_about) : 0;
        double off = f.certain ? rounding * (2 * std::sqrt(b.hi) + rounding) : infinity;
        if (t.kind == Kind::lts) {
            const bool known = off <= fit_rounding * b.hi;
            return {-b.value(), known, off, b.hi + off < exact_fit * f.y_about * f.y_about};
        }
        if (!f.varies) return {undefined, f.certain, f.certain ? 0 : infinity};
        off = off / f.tss.hi +
              2 * row_rounding * static_cast<double>(rows.size()) * f.y_size / f.y_about;
        return {(one - b / f.tss).value(), off <= fit_rounding, off};
    }
    const DoubleDouble a = product(f.x, f.x);
    if (!f.x_left || !f.y_left) return {undefined, f.certain};
    const bool known =
        f.certain && f.known(f.x, f.x_size, f.x_about) && f.known(f.y, f.y_size, f.y_about);
    const DoubleDouble c = product(f.x, f.y), most = square_root(a) * square_root(b);
    const double off = f.turned(a, f.x_size, f.x_about) + f.turned(b, f.y_size, f.y_about);
    if (std::fabs(c.hi) <= off * most.hi) return {0, known, off};  // rounding of nothing
    return {(c / most).value(), known, off};
}

Dependence dependence(const Table& t, std::span<const int> rows) {
    const Fitted f(t, rows);
    if (!f.certain) return {};
    if (t.kind == Kind::r2) return {f.dependent, !f.varies};
    return {f.dependent, !is_fit(t.kind) && !(f.x_left && f.y_left)};
}

namespace {

// Gram-Schmidt on all rows with the products of the reference rows.
class Placing {
  public:
    Placing(const Table& t, std::span<const int> reference, const std::function<bool()>& over)
        : t_(t), reference_(t.rows_of(reference)), over_(over) {}

    Placed run() {
        std::vector<Reaching> z;
        for (const auto& column : t_.design) {
            Long c = gather(column);
            double reach = most(c);
            for (const Reaching& before : z) reach += project(c, before);
            if (over_()) return {};
            if (!is_left(column, c, reach)) continue;  // dependent on all rows
            kept_.push_back(&column);
            const double here = mean_size(c);
            const double everywhere = std::max(mean_size_all(c), row_rounding * reach);
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
        double y_reach = most(y), x_reach = most(x), total_reach = y_reach;
        // y about the first column, unless that is too thin to be taken off; its multiplier is
        // free, so y will do.
        const bool about_first = t_.centred && !z.empty() && z[0].at == 0;
        if (!about_first) total = y;
        std::vector<double> taken_off(out_.fitted + 1, 0.0);  // of `total`, to leave y
        for (std::size_t j = 0; j < z.size(); ++j) {
            const bool from_total = !total.empty();
            double times = 0;
            y_reach += project(y, z[j], &times);
            x_reach += project(x, z[j]);
            if (j == 0 && about_first) total = y, total_reach = y_reach;
            if (from_total) taken_off[z[j].at] = times;
            if (over_()) return;
        }
        const double y_scale = scale_of(y), x_scale = scale_of(x);
        if (!is_fit(t_.kind))
            out_.no_value = !is_left(t_.y, y, y_reach) || !is_left(t_.x, x, x_reach);
        if (t_.kind == Kind::r2) {
            kept_.resize(t_.centred ? 1 : 0);  // whether y varies about the first column
            const bool known = about_first || !t_.centred;
            out_.no_value = !is_left(t_.y, known ? total : Long{}, total_reach);
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
            case Kind::sign:
                emit(y, reach);
                emit(negative(x), reach);
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

    // Whether a column is not, on all rows, a combination of those kept.
    bool is_left(const Column& given, const Long& left, double reach) const {
        if (mean_size_all(left) > nine_digits * row_rounding * reach) return true;
        std::vector<int> all(given.size());
        std::iota(all.begin(), all.end(), 0);
        return place_in_span(kept_, given, all) != Span::inside;
    }
    double scale_of(const Long& c) const {
        const double here = mean_size(c), everywhere = mean_size_all(c);
        if (here > thin_share * everywhere) return here;
        return everywhere > 0 ? everywhere : 1;
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
    std::vector<const Column*> kept_;  // of Z, as given: those that are independent on all rows
    const std::function<bool()>& over_;
    Placed out_;
};

}  // namespace

Placed place(const Table& table, std::span<const int> reference,
             const std::function<bool()>& over) {
    return Placing(table, reference, over).run();
}

}  // namespace quadsweep::regression
