// Multiple regression and controls, from Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "python.hpp"
#include "regression/search.hpp"
#include "regression/table.hpp"

using namespace nanobind::literals;

namespace quadsweep::regression {
namespace {

using Vector = Given<double>;
using Labels = Given<std::int64_t>;
using Subsets = Given<std::int64_t, 2>;

// Divides by a power of two, which rounds nothing; returns the exponent.
int scale_down(Column& column) {
    double most = 0;
    for (double v : column.hi) most = std::max(most, std::fabs(v));
    if (!(most > 0) || !std::isfinite(most)) return 0;
    const int exponent = std::ilogb(most);
    for (auto* part : {&column.hi, &column.lo}) {
        for (double& v : *part) v = std::ldexp(v, -exponent);
    }
    return exponent;
}

// Some rows of a vector, or of a column of a matrix.
using Rows = std::span<const std::int64_t>;
Column column(const Vector& v, Rows rows) {
    Column out{std::vector<double>(rows.size()), {}};
    for (std::size_t i = 0; i < rows.size(); ++i) out.hi[i] = v.data()[rows[i]];
    return out;
}
Column column(const Matrix& m, std::size_t j, Rows rows) {
    Column out{std::vector<double>(rows.size()), {}};
    for (std::size_t i = 0; i < rows.size(); ++i) out.hi[i] = m.data()[rows[i] * m.shape(1) + j];
    return out;
}
std::vector<std::int64_t> all_rows(const Vector& y) {
    std::vector<std::int64_t> rows(y.size());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

// Columns with the roots of the weights in them. A root is rounded, which is a change of the weight
// by an ulp; its product with a value is not.
class Weighted {
  public:
    Weighted(const std::optional<Vector>& weights, Rows rows) : root_(rows.size(), 1.0) {
        if (!weights) return;
        root_ = column(*weights, rows).hi;
        for (double& w : root_) w = std::sqrt(w);
        plain_ = false;
    }
    Column ones() const {
        Column c{root_, {}};
        scale_down(c);
        return c;
    }
    // Scaled by a power of two, whose exponent is added up.
    Column operator()(Column c, int* exponent = nullptr) {
        int scale = scale_down(c);
        if (!plain_) {
            c.lo.resize(c.size(), 0.0);
            for (std::size_t i = 0; i < c.size(); ++i) {
                const DoubleDouble p = c.at(i) * root_[i];
                c.hi[i] = p.hi;
                c.lo[i] = p.lo;
            }
            scale += scale_down(c);
        }
        if (exponent != nullptr) *exponent = scale;
        for (double v : c.hi) exact &= v == 0 || std::fabs(v) > 1e-250;
        return c;
    }
    bool exact = true;  // whether all digits of all columns so far are there

  private:
    std::vector<double> root_;
    bool plain_ = true;
};

// a x + b y, to 32 digits.
Column combined(double a, const Vector& x, double b, const Vector& y) {
    if (b == 0 && std::fabs(a) == 1) {
        Column c{{x.data(), x.data() + x.size()}, {}};
        for (double& v : c.hi) v *= a;
        return c;
    }
    Column c;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const DoubleDouble sum = two_product(a, x.data()[i]) + two_product(b, y.data()[i]);
        c.hi.push_back(sum.hi);
        c.lo.push_back(sum.lo);
    }
    return c;
}

Table fit_table(const Matrix& columns, const Vector& y, const std::optional<Vector>& weights,
                Rows rows, const std::string& objective, bool intercept) {
    Table table;
    table.kind = objective == "r2" ? Kind::r2 : Kind::lts;
    table.rows = static_cast<int>(rows.size());
    table.centred = intercept;
    Weighted weighted(weights, rows);
    if (intercept) table.design.push_back(weighted.ones());
    for (std::size_t j = 0; j < columns.shape(1); ++j) {
        table.design.push_back(weighted(column(columns, j, rows)));
    }
    table.y = weighted(column(y, rows), &table.y_exponent);
    table.exact = weighted.exact;
    return table;
}
void check_fit(const Matrix& columns, const Vector& y, const std::optional<Vector>& weights,
               const std::string& objective) {
    if (objective != "r2" && objective != "lts") {
        throw std::invalid_argument("objective must be 'r2' or 'lts'");
    }
    if (columns.shape(0) != y.size()) throw std::invalid_argument("columns and y differ in length");
    if (weights && weights->size() != y.size()) {
        throw std::invalid_argument("weights and y differ in length");
    }
}

void add_groups(Table& table, const std::optional<Labels>& groups) {
    table.units = table.rows;
    if (!groups) return;
    if (static_cast<int>(groups->size()) != table.rows) {
        throw std::invalid_argument("groups must have one label a row");
    }
    for (int i = 0; i < table.rows; ++i) {
        const std::int64_t g = groups->data()[i];
        if (g < 0 || g >= table.rows) {
            throw std::invalid_argument("groups must be labelled 0, 1, 2, ...");
        }
        if (static_cast<std::size_t>(g) >= table.members.size()) table.members.resize(g + 1);
        table.members[g].push_back(i);
    }
    table.units = static_cast<int>(table.members.size());
}

void check(const Table& table, int k) {
    const int fitted = static_cast<int>(table.design.size());
    const int others = is_fit(table.kind) || table.kind == Kind::sign ? 1 : 2;
    if (fitted + others > most_searched) {
        throw std::invalid_argument("too many columns: " + std::to_string(fitted) +
                                    ", compiled are up to " +
                                    std::to_string(most_searched - others));
    }
    if (k < 1 || k > table.units) {
        throw std::invalid_argument("k must be between 1 and " + std::to_string(table.units));
    }
}

double value_of(const Table& table, double sign, double score) {
    if (score == undefined && table.kind != Kind::lts) return std::nan("");
    if (table.kind == Kind::lts) return std::ldexp(-score, 2 * table.y_exponent);
    return sign * score;
}

nb::dict run(const Table& table, const Options& options, double sign, Control& control,
             const nb::object& progress) {
    const auto value = [&table, sign](double score) { return value_of(table, sign, score); };
    Found found;
    watched(control, progress, scores_as(value), [&] { found = search(table, options, control); });
    return dict_of("inliers", to_rows(found.inliers), "value", value(found.score), "bound",
                   value(found.bound), "status", text(found.status), "nodes", found.nodes,
                   "decided", found.decided, "n_evaluations", found.n_evaluations, "unclear",
                   found.unclear);
}

nb::dict fit(const Matrix& columns, const Vector& y, int k, const std::string& objective,
             bool intercept, double tol, bool k_or_more, std::optional<double> above,
             const std::vector<std::vector<int>>& starts, std::uint64_t seed, int n_jobs,
             std::optional<double> time_limit, nb::object progress,
             const std::optional<Vector>& weights, const std::optional<Labels>& groups,
             std::int64_t enumeration_limit, int tree_from, double memory_limit,
             double most_boxes) {
    Control control(time_limit.value_or(infinity));
    check_fit(columns, y, weights, objective);
    Table table = fit_table(columns, y, weights, all_rows(y), objective, intercept);
    add_groups(table, groups);
    check(table, k);
    Options options{
        k,         k_or_more,    tol,       std::nullopt,
        starts,    seed,         n_jobs,    std::max<std::int64_t>(enumeration_limit, 1),
        tree_from, memory_limit, most_boxes};
    if (above) {
        options.above =
            table.kind == Kind::r2 ? *above : -std::ldexp(*above, -2 * table.y_exponent);
    }
    return run(table, options, 1, control, progress);
}

// R2 or minus the residual sum of squares of many subsets, a row of `subsets` each, by how much
// that may be off, and the exponent of two that both are to be multiplied by. Undefined is minus
// infinity; what 32 digits do not tell is off by infinity.
nb::tuple scores(const Matrix& columns, const Vector& y, const Subsets& subsets,
                 const std::string& objective, bool intercept,
                 const std::optional<Vector>& weights) {
    check_fit(columns, y, weights, objective);
    const std::size_t count = subsets.shape(0), k = subsets.shape(1);
    std::vector<double> score(count), off(count);
    std::vector<std::int64_t> exponent(count, 0);
    std::vector<int> every(k);
    std::iota(every.begin(), every.end(), 0);
    {
        nb::gil_scoped_release released;
        for (std::size_t s = 0; s < count; ++s) {
            const Rows rows(subsets.data() + s * k, k);
            Table table = fit_table(columns, y, weights, rows, objective, intercept);
            const Scored found = score_of(table, every);
            score[s] = found.score;
            off[s] = found.off;
            if (table.kind == Kind::lts) exponent[s] = 2 * table.y_exponent;
        }
    }
    return nb::make_tuple(to_numpy(std::move(score)), to_numpy(std::move(off)),
                          to_numpy(std::move(exponent)));
}

// The partial correlation of a x + b y and c x + d y, with (a, b, c, d) = mix.
nb::dict partial(const Vector& x, const Vector& y, const Matrix& controls, int k,
                 const std::string& side, double t, const std::array<double, 4>& mix,
                 bool k_or_more, const std::vector<std::vector<int>>& starts, std::uint64_t seed,
                 int n_jobs, std::optional<double> time_limit, nb::object progress,
                 const std::optional<Vector>& weights, const std::optional<Labels>& groups,
                 std::int64_t enumeration_limit, int tree_from, double memory_limit) {
    Control control(time_limit.value_or(infinity));
    if (side != "above" && side != "below") {
        throw std::invalid_argument("side must be 'above' or 'below'");
    }
    if (!(std::fabs(t) < 1)) throw std::invalid_argument("t must be between -1 and 1");
    if (x.size() != y.size() || controls.shape(0) != y.size()) {
        throw std::invalid_argument("x, y and controls differ in length");
    }
    // r below t is the r of x and -y above -t.
    const double sign = side == "above" ? 1 : -1, score = sign * t;
    Table table;
    table.kind = score == 0 ? Kind::sign : score > 0 ? Kind::above : Kind::below;
    table.rows = static_cast<int>(y.size());
    table.centred = false;
    if (weights && weights->size() != y.size()) {
        throw std::invalid_argument("weights and y differ in length");
    }
    const std::vector<std::int64_t> rows = all_rows(y);
    Weighted weighted(weights, rows);
    for (std::size_t j = 0; j < controls.shape(1); ++j) {
        table.design.push_back(weighted(column(controls, j, rows)));
    }
    table.x = weighted(combined(mix[0], x, mix[1], y));
    table.y = weighted(combined(sign * mix[3], y, sign * mix[2], x));
    table.exact = weighted.exact;
    add_groups(table, groups);
    check(table, k);
    const Options options{
        k,         k_or_more,   0,      score,
        starts,    seed,        n_jobs, std::max<std::int64_t>(enumeration_limit, 1),
        tree_from, memory_limit};
    return run(table, options, sign, control, progress);
}

}  // namespace
}  // namespace quadsweep::regression

void quadsweep::bind_regression(nb::module_& m) {
    using namespace regression;
    m.def("regression_fit", &fit, "columns"_a, "y"_a, "k"_a, nb::kw_only(), "objective"_a = "r2",
          "intercept"_a = true, "tol"_a = 1e-9, "k_or_more"_a = false,
          "above"_a.none() = nb::none(), "starts"_a = std::vector<std::vector<int>>{}, "seed"_a = 0,
          "n_jobs"_a = 1, "time_limit"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
          "weights"_a.none() = nb::none(), "groups"_a.none() = nb::none(),
          "enumeration_limit"_a = Options{}.enumeration_limit, "tree_from"_a = Options{}.tree_from,
          "memory_limit"_a = infinity, "most_boxes"_a = infinity);
    m.def("regression_scores", &scores, "columns"_a, "y"_a, "subsets"_a, nb::kw_only(),
          "objective"_a = "r2", "intercept"_a = true, "weights"_a.none() = nb::none());
    m.def("regression_partial", &partial, "x"_a, "y"_a, "controls"_a, "k"_a, nb::kw_only(),
          "side"_a = "above", "t"_a = 0.0, "mix"_a = std::array<double, 4>{1, 0, 0, 1},
          "k_or_more"_a = false, "starts"_a = std::vector<std::vector<int>>{}, "seed"_a = 0,
          "n_jobs"_a = 1, "time_limit"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
          "weights"_a.none() = nb::none(), "groups"_a.none() = nb::none(),
          "enumeration_limit"_a = Options{}.enumeration_limit, "tree_from"_a = Options{}.tree_from,
          "memory_limit"_a = infinity);
}
