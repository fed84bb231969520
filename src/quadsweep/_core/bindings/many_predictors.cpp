// Bounds for many predictors, from Python. Arrays come in validated; the GIL is released.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "many_predictors/pairs.hpp"
#include "many_predictors/quartics.hpp"
#include "python.hpp"

using namespace nanobind::literals;

namespace quadsweep::many_predictors {
namespace {

void make_pairs(PairBound* self, const Matrix& pairs, const Column& own, const Column& slope,
                const Column& u, int m) {
    Costs costs;
    costs.rows = static_cast<int>(own.size());
    for (std::size_t length : {pairs.shape(0), pairs.shape(1), slope.size(), u.size()}) {
        if (length != own.size()) throw std::invalid_argument("costs differ in length");
    }
    if (m < 1 || m >= costs.rows) throw std::invalid_argument("m must be between 1 and rows - 1");
    costs.pairs = pairs.data();
    costs.own = entries(own);
    costs.slope = entries(slope);
    costs.u = entries(u);
    new (self) PairBound(std::move(costs), m);
}

double improve(PairBound& bound, double g, double enough, int steps, int n_jobs,
               double time_limit) {
    Control control(time_limit);
    double most = 0;
    bool stopped = false;
    watched(control, [&] {
        most = bound.improve(g, enough, steps, n_jobs, control);
        stopped = control.status(Status::optimal) == Status::interrupted;
    });
    if (stopped) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
    return most;
}

using NewMatrix = nb::ndarray<nb::numpy, double>;

NewMatrix choose_quartics(const Column& r, const Column& t, const Column& reach,
                          const Matrix& moments) {
    const std::size_t n = r.size();
    if (t.size() != n || reach.size() != n || moments.shape(0) != 4 || moments.shape(1) != n) {
        throw std::invalid_argument("rows differ in number");
    }
    std::vector<double> out;
    unlocked(
        [&] { choose_majorants(entries(r), entries(t), entries(reach), moments.data(), out); });
    return to_numpy(std::move(out), {n, static_cast<std::size_t>(coefficients + 1)});
}

std::vector<double> copy_of(const Matrix& matrix, std::size_t d) {
    if (matrix.shape(0) != d || matrix.shape(1) != d) {
        throw std::invalid_argument("the matrix has another dimension");
    }
    return {matrix.data(), matrix.data() + d * d};
}

NewMatrix symmetrise(const SphereForms& forms, const Matrix& matrix) {
    const std::size_t d = static_cast<std::size_t>(forms.dimension());
    std::vector<double> out = copy_of(matrix, d);
    unlocked([&] { forms.symmetrise(out.data()); });
    return to_numpy(std::move(out), {d, d});
}

std::pair<NewMatrix, NewMatrix> project(const SphereForms& forms, const Matrix& matrix) {
    const std::size_t d = static_cast<std::size_t>(forms.dimension());
    std::vector<double> out = copy_of(matrix, d), multiplier(d);
    unlocked([&] { forms.project(out.data(), multiplier.data()); });
    return {to_numpy(std::move(out), {d, d}), to_numpy(std::move(multiplier))};
}

}  // namespace
}  // namespace quadsweep::many_predictors

void quadsweep::bind_many_predictors(nb::module_& m) {
    using namespace many_predictors;
    m.def(
        "largest_row_sums",
        [](const Matrix& matrix, const Column& weight, int k, int sign) {
            if (matrix.shape(0) != weight.size() || matrix.shape(1) != weight.size()) {
                throw std::invalid_argument("matrix and weights differ in length");
            }
            const std::vector<double> weights = entries(weight);
            return to_numpy(
                unlocked([&] { return largest_row_sums(matrix.data(), weights, k, sign); }));
        },
        "matrix"_a, "weight"_a, "k"_a, "sign"_a);
    nb::class_<PairBound>(m, "PairBound")
        .def("__init__", &make_pairs, "pairs"_a, "own"_a, "slope"_a, "u"_a, "m"_a,
             nb::keep_alive<1, 2>())
        .def("improve", &improve, "g"_a, "enough"_a, "steps"_a, "n_jobs"_a, "time_limit"_a);
    m.def("choose_majorants", &choose_quartics, "r"_a, "t"_a, "reach"_a, "moments"_a);
    nb::class_<SphereForms>(m, "SphereForms")
        .def(nb::init<int>(), "variables"_a)
        .def_prop_ro("dimension", &SphereForms::dimension)
        .def("symmetrise", &symmetrise, "matrix"_a)
        .def("project", &project, "matrix"_a);
}
