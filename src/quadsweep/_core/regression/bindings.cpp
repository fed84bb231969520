// Several predictors and controls, from Python. Arrays come in validated; see ../bindings.cpp for
// what is released and when.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "register.hpp"
#include "search.hpp"
#include "shared/control.hpp"
#include "table.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quadsweep::regression {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

// Columns with the roots of the weights in them. A root is rounded, which is a change of the weight
// by an ulp; its product with a value is not.
class Weighted {
  public:
    Weighted(const std::optional<Vector>& weights, std::size_t rows) : root_(rows, 1.0) {
        if (!weights) return;
        if (weights->size() != rows) throw std::invalid_argument("weights and y differ in length");
        for (std::size_t i = 0; i < rows; ++i) root_[i] = std::sqrt(weights->data()[i]);
        plain_ = false;
    }
    Column ones() const {
        Column c{root_, {}};
        scale_down(c);
        return c;
    }
    // Scaled by a power of two, whose exponent is added up.
    Column operator()(Column c, int* exponent = nullptr) const {
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
        return c;
    }

  private:
    std::vector<double> root_;
    bool plain_ = true;
};

Column column(const Vector& v) { return {{v.data(), v.data() + v.size()}, {}}; }

// a x + b y, to 32 digits.
Column combined(double a, const Vector& x, double b, const Vector& y) {
    if (b == 0 && std::fabs(a) == 1) {
        Column c = column(x);
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

Column column(const Matrix& m, std::size_t j) {
    Column out{std::vector<double>(m.shape(0)), {}};
    for (std::size_t i = 0; i < out.size(); ++i) out.hi[i] = m.data()[i * m.shape(1) + j];
    return out;
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

// Ctrl-C is taken as a wish to see the best so far; a callback that raises ends the call with its
// own exception.
class Watch {
  public:
    Watch(Control& control, nb::object callback, const Table& table, double sign)
        : callback_(std::move(callback)) {
        control.on_tick = [this, &table, sign](const Progress& p) {
            nb::gil_scoped_acquire gil;
            if (PyErr_CheckSignals() != 0) {
                PyErr_Clear();
                return false;
            }
            if (callback_.is_none()) return true;
            try {
                nb::object wish = callback_(value_of(table, sign, p.score),
                                            value_of(table, sign, p.bound), p.nodes, p.seconds);
                return !(nb::isinstance<nb::bool_>(wish) && !nb::cast<bool>(wish));
            } catch (...) {
                failure_ = std::current_exception();
                return false;
            }
        };
    }
    void rethrow() {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    nb::object callback_;
    std::exception_ptr failure_;
};

nb::dict run(const Table& table, const Options& options, double sign,
             std::optional<double> time_limit, nb::object progress) {
    Control control(time_limit.value_or(infinity));
    Watch watch(control, std::move(progress), table, sign);
    Found found;
    {
        nb::gil_scoped_release released;
        found = search(table, options, control);
    }
    watch.rethrow();
    auto* held = new std::vector<std::int64_t>(found.inliers.begin(), found.inliers.end());
    nb::capsule owner(held,
                      [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    nb::dict out;
    out["inliers"] = nb::ndarray<nb::numpy, std::int64_t>(held->data(), {held->size()}, owner);
    out["value"] = value_of(table, sign, found.score);
    out["bound"] = value_of(table, sign, found.bound);
    out["status"] = std::string(name(found.status));
    out["nodes"] = found.nodes;
    out["decided"] = found.decided;
    out["looked_at"] = found.n_evaluations;
    return out;
}

nb::dict fit(const Matrix& columns, const Vector& y, int k, const std::string& objective,
             bool intercept, double tol, bool at_least, std::optional<double> above,
             const std::vector<std::vector<int>>& starts, std::uint64_t seed, int n_jobs,
             std::optional<double> time_limit, nb::object progress,
             const std::optional<Vector>& weights, const std::optional<Labels>& groups,
             std::int64_t enumerate, int tree_from) {
    Table table;
    if (objective != "r2" && objective != "lts") {
        throw std::invalid_argument("objective must be 'r2' or 'lts'");
    }
    table.kind = objective == "r2" ? Kind::r2 : Kind::lts;
    table.rows = static_cast<int>(y.size());
    if (columns.shape(0) != y.size()) throw std::invalid_argument("columns and y differ in length");
    const Weighted weighted(weights, y.size());
    table.centred = intercept;
    if (intercept) table.design.push_back(weighted.ones());
    for (std::size_t j = 0; j < columns.shape(1); ++j) {
        table.design.push_back(weighted(column(columns, j)));
    }
    table.y = weighted(column(y), &table.y_exponent);
    add_groups(table, groups);
    check(table, k);
    Options options{k,        at_least, tol,    std::nullopt,
                    starts,   seed,     n_jobs, std::max<std::int64_t>(enumerate, 1),
                    tree_from};
    if (above) {
        options.above =
            table.kind == Kind::r2 ? *above : -std::ldexp(*above, -2 * table.y_exponent);
    }
    return run(table, options, 1, time_limit, std::move(progress));
}

// The partial correlation of a x + b y and c x + d y, with (a, b, c, d) = mix.
nb::dict partial(const Vector& x, const Vector& y, const Matrix& controls, int k,
                 const std::string& side, double t, const std::array<double, 4>& mix, bool at_least,
                 bool decide, const std::vector<std::vector<int>>& starts, std::uint64_t seed,
                 int n_jobs, std::optional<double> time_limit, nb::object progress,
                 const std::optional<Vector>& weights, const std::optional<Labels>& groups,
                 std::int64_t enumerate, int tree_from) {
    if (side != "above" && side != "below") {
        throw std::invalid_argument("side must be 'above' or 'below'");
    }
    if (!decide) throw std::invalid_argument("only decide=True is there");
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
    const Weighted weighted(weights, y.size());
    for (std::size_t j = 0; j < controls.shape(1); ++j) {
        table.design.push_back(weighted(column(controls, j)));
    }
    table.x = weighted(combined(mix[0], x, mix[1], y));
    table.y = weighted(combined(sign * mix[3], y, sign * mix[2], x));
    add_groups(table, groups);
    check(table, k);
    const Options options{k,        at_least, 0,      score,
                          starts,   seed,     n_jobs, std::max<std::int64_t>(enumerate, 1),
                          tree_from};
    return run(table, options, sign, time_limit, std::move(progress));
}

}  // namespace

void bind(nb::module_& m) {
    m.def("several_fit", &fit, "columns"_a, "y"_a, "k"_a, nb::kw_only(), "objective"_a = "r2",
          "intercept"_a = true, "tol"_a = 1e-9, "at_least"_a = false, "above"_a.none() = nb::none(),
          "starts"_a = std::vector<std::vector<int>>{}, "seed"_a = 0, "n_jobs"_a = 1,
          "time_limit"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
          "weights"_a.none() = nb::none(), "groups"_a.none() = nb::none(),
          "enumerate"_a = Options{}.enumerate, "tree_from"_a = Options{}.tree_from);
    m.def("several_partial", &partial, "x"_a, "y"_a, "controls"_a, "k"_a, nb::kw_only(),
          "side"_a = "above", "t"_a = 0.0, "mix"_a = std::array<double, 4>{1, 0, 0, 1},
          "at_least"_a = false, "decide"_a = true, "starts"_a = std::vector<std::vector<int>>{},
          "seed"_a = 0, "n_jobs"_a = 1, "time_limit"_a.none() = nb::none(),
          "progress"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
          "groups"_a.none() = nb::none(), "enumerate"_a = Options{}.enumerate,
          "tree_from"_a = Options{}.tree_from);
    bind_test_hooks(m);
}

}  // namespace quadsweep::regression
