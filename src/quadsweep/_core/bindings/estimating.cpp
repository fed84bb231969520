// All removals of a few units, from Python. Rows come in the order of their units.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "estimating/likelihood.hpp"
#include "estimating/linear.hpp"
#include "estimating/link.hpp"
#include "estimating/relaxation.hpp"
#include "estimating/robust.hpp"
#include "python.hpp"
#include "search/driver.hpp"

using namespace nanobind::literals;

namespace quadsweep::estimating {
namespace {

using Vector = Given<double>;

// Columns one after the other.
std::vector<double> columns(const Matrix& m) {
    std::vector<double> out(m.shape(0) * m.shape(1));
    for (std::size_t i = 0; i < m.shape(0); ++i) {
        for (std::size_t j = 0; j < m.shape(1); ++j) {
            out[j * m.shape(0) + i] = m.data()[i * m.shape(1) + j];
        }
    }
    return out;
}

StandardErrors errors_named(const std::string& kind, bool k_adj, bool g_adj, bool g_min,
                            bool cluster_freedom) {
    StandardErrors out{Variance::robust, 0, k_adj, g_adj, g_min, cluster_freedom, 1};
    if (kind == "classical") {
        out.kind = Variance::classical;
    } else if (kind == "known") {
        out.kind = Variance::known;
    } else if (kind == "cluster") {
        out.kind = Variance::clustered;
    } else if (kind == "HC2" || kind == "HC3") {
        out.power = kind == "HC2" ? 0.5 : 1;
    } else if (kind != "HC0" && kind != "HC1") {
        throw std::invalid_argument("no such standard errors: " + kind);
    }
    return out;
}

std::vector<double> column(const Matrix& m, std::size_t j) {
    std::vector<double> out(m.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = m.data()[i * m.shape(1) + j];
    return out;
}

// All removals of m units, whatever the statistic.
template <class Test>
nb::dict try_all(const Test& test, const std::vector<int>& order, int m, std::size_t most_unclear,
                 int n_jobs, std::optional<double> time_limit, const nb::object& progress) {
    const int units = static_cast<int>(test.first.size()) - 1;
    if (m < 1 || m > static_cast<int>(order.size())) {
        throw std::invalid_argument("m must be between 1 and the number of units");
    }
    for (int unit : order) {
        if (unit < 0 || unit >= units) throw std::invalid_argument("order has an unknown unit");
    }
    Control control(time_limit.value_or(infinity));
    Tried tried;
    watched(control, progress, counted, [&] {
        const auto make = [&] { return refits_of(test); };
        tried = try_removals(make, order, m, most_unclear, n_jobs, control);
    });
    return dict_of("breaking", tried.breaking, "unclear", tried.unclear, "count", tried.count,
                   "complete", tried.complete, "status", ending(control));
}

// Without roots nothing is decided.
nb::dict decide(const Question& question, std::vector<std::unique_ptr<Box>> roots, int n_jobs,
                double memory_limit, double most_boxes, std::optional<double> time_limit,
                nb::object progress) {
    Control control(time_limit.value_or(infinity));
    MultiplierRelaxation relaxation(question);
    Driver<MultiplierRelaxation> driver(
        relaxation, Limits{n_jobs, 0, most_boxes, memory_limit / 2, memory_limit}, control);
    const bool bounded = !roots.empty();
    watched(control, progress, counted, [&] {
        driver.begin(std::move(roots));
        driver.run();
    });
    const Standing standing = driver.standing();
    const bool complete = bounded && standing.closed && standing.valid &&
                          standing.deferred == undefined && !relaxation.finished() &&
                          !control.stopped();
    return dict_of("breaking", relaxation.breaking(), "unclear", relaxation.unclear(), "count",
                   driver.n_boxes(), "complete", complete, "status", ending(control));
}

void make_linear_test(LinearTest* self, const Matrix& basis, const Vector& s, const Vector& x,
                      const Vector& y, const std::vector<int>& first, const std::string& kind,
                      const std::vector<std::vector<int>>& clusters, bool k_adj, bool g_adj,
                      bool g_min, bool cluster_freedom, const Vector& critical, int side,
                      bool instrument, int fixed, double error, double variance) {
    LinearTest test;
    test.rows = static_cast<int>(y.size());
    test.controls = static_cast<int>(basis.shape(1));
    test.basis = columns(basis);
    test.s = entries(s);
    test.x = entries(x);
    test.y = entries(y);
    test.instrument = instrument;
    test.first = first;
    test.errors = errors_named(kind, k_adj, g_adj, g_min, cluster_freedom);
    test.errors.variance = variance;
    test.cluster = clusters;
    for (const auto& labels : clusters) {
        test.clusters.push_back(1 + *std::max_element(labels.begin(), labels.end()));
    }
    test.fixed = fixed;
    test.critical = entries(critical);
    test.side = side;
    test.error = error;
    new (self) LinearTest(std::move(test));
}

// Controls and the term with their sizes, of a robust test or of one by likelihood.
template <class Test>
void add_columns(Test& test, const Matrix& rows, const Matrix& sizes, int most_controls) {
    const std::size_t q = rows.shape(1) - 2;
    test.rows = static_cast<int>(rows.shape(0));
    test.controls = static_cast<int>(q);
    if (test.controls > most_controls) throw std::invalid_argument("too many controls");
    for (std::size_t j = 0; j < q; ++j) {
        test.z.push_back(column(rows, j));
        test.z_size.push_back(column(sizes, j));
    }
    test.x = column(rows, q);
    test.x_size = column(sizes, q);
}

// Columns of mean square one times the roots of their rows' weights; `sizes` of the same shape is
// what their rounding is relative to. The last two columns are x and y.
nb::dict decide_robust(const LinearTest& test, const Matrix& rows, const Matrix& sizes,
                       const std::vector<int>& scores, const std::vector<int>& items, double tau,
                       int fewest, int most, double enumerate, std::size_t most_unclear, int n_jobs,
                       double memory_limit, double most_boxes, std::optional<double> time_limit,
                       nb::object progress) {
    RobustTest robust;
    add_columns(robust, rows, sizes, (most_dims - 1) / 2);
    robust.y = column(rows, rows.shape(1) - 1);
    robust.y_size = column(sizes, rows.shape(1) - 1);
    robust.score_first = scores;
    robust.item_first = items;
    robust.above = test.side != 0;
    robust.sign = test.side;
    robust.tau = tau;
    return decide({[&] { return robust_equations(robust); }, [&] { return refits_of(test); },
                   fewest, most, enumerate, most_unclear},
                  robust_roots(robust, most), n_jobs, memory_limit, most_boxes, time_limit,
                  std::move(progress));
}

void make_likelihood_test(LikelihoodTest* self, const Matrix& design, const Vector& y,
                          const Vector& weights, const std::vector<int>& first,
                          const std::string& link, const std::vector<double>& start,
                          bool sign_alone, double critical, int side) {
    if (link != "logit" && link != "poisson") {
        throw std::invalid_argument("link must be 'logit' or 'poisson'");
    }
    LikelihoodTest test;
    test.link = link == "logit" ? Link::logit : Link::poisson;
    test.rows = static_cast<int>(y.size());
    test.columns = static_cast<int>(design.shape(1));
    test.design = columns(design);
    test.y = entries(y);
    test.weight = entries(weights);
    test.first = first;
    test.start = start;
    test.sign_alone = sign_alone;
    test.critical = critical;
    test.side = side;
    new (self) LikelihoodTest(std::move(test));
}

// Columns: the controls, the term and the linear predictor of the fit to all rows; `sizes` of the
// same shape is what their rounding is relative to. The test is that of the sign alone.
nb::dict decide_likelihood(const LikelihoodTest& test, const Matrix& rows, const Matrix& sizes,
                           double radius, int fewest, int most, double enumerate,
                           std::size_t most_unclear, int n_jobs, double memory_limit,
                           double most_boxes, std::optional<double> time_limit,
                           nb::object progress) {
    LinkTest f;
    add_columns(f, rows, sizes, most_dims);
    f.link = test.link;
    f.offset = column(rows, rows.shape(1) - 1);
    f.offset_size = column(sizes, rows.shape(1) - 1);
    f.y = test.y;
    f.weight = test.weight;
    f.item_first = test.first;
    f.sign = -test.side;
    std::vector<std::unique_ptr<Box>> roots;
    roots.push_back(std::make_unique<Box>());
    for (int j = 0; j < f.controls; ++j) roots[0]->half[j] = radius;
    for (int i = 0; i + 1 < static_cast<int>(test.first.size()); ++i) roots[0]->open.push_back(i);
    return decide({[&] { return link_equations(f); }, [&] { return refits_of(test); }, fewest, most,
                   enumerate, most_unclear},
                  std::move(roots), n_jobs, memory_limit, most_boxes, time_limit,
                  std::move(progress));
}

}  // namespace
}  // namespace quadsweep::estimating

void quadsweep::bind_estimating(nb::module_& m) {
    using namespace estimating;
    nb::class_<LinearTest>(m, "LinearTest")
        .def("__init__", &make_linear_test, "basis"_a, "s"_a, "x"_a, "y"_a, "first"_a,
             nb::kw_only(), "kind"_a, "clusters"_a = std::vector<std::vector<int>>{},
             "k_adj"_a = true, "g_adj"_a = true, "g_min"_a = false, "cluster_freedom"_a = true,
             "critical"_a, "side"_a, "instrument"_a = false, "fixed"_a = 0, "error"_a = 0.0,
             "variance"_a = 1.0);
    nb::class_<LikelihoodTest>(m, "LikelihoodTest")
        .def("__init__", &make_likelihood_test, "design"_a, "y"_a, "weights"_a, "first"_a,
             nb::kw_only(), "link"_a, "start"_a, "sign_alone"_a, "critical"_a, "side"_a);
    const auto def_try_all = [&m](auto function) {
        m.def("try_all", function, "test"_a, "order"_a, "m"_a, nb::kw_only(),
              "most_unclear"_a = 10000, "n_jobs"_a = 1, "time_limit"_a.none() = nb::none(),
              "progress"_a.none() = nb::none());
    };
    def_try_all(&try_all<LinearTest>);
    def_try_all(&try_all<LikelihoodTest>);
    m.def("decide_robust", &decide_robust, "test"_a, "rows"_a, "sizes"_a, "scores"_a, "items"_a,
          nb::kw_only(), "tau"_a, "fewest"_a, "most"_a, "enumerate"_a = Question{}.enumerate,
          "most_unclear"_a = 1000, "n_jobs"_a = 1, "memory_limit"_a = infinity,
          "most_boxes"_a = infinity, "time_limit"_a.none() = nb::none(),
          "progress"_a.none() = nb::none());
    m.def("decide_likelihood", &decide_likelihood, "test"_a, "rows"_a, "sizes"_a, nb::kw_only(),
          "radius"_a, "fewest"_a, "most"_a, "enumerate"_a = Question{}.enumerate,
          "most_unclear"_a = 1000, "n_jobs"_a = 1, "memory_limit"_a = infinity,
          "most_boxes"_a = infinity, "time_limit"_a.none() = nb::none(),
          "progress"_a.none() = nb::none());
}
