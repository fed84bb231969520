// Bounds for many predictors, from Python. Arrays come in validated; the GIL is released.
#include <nanobind/stl/vector.h>

#include "many_predictors/pairs.hpp"
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
            std::vector<double> sums;
            {
                nb::gil_scoped_release released;
                sums = largest_row_sums(matrix.data(), weights, k, sign);
            }
            return to_numpy(std::move(sums));
        },
        "matrix"_a, "weight"_a, "k"_a, "sign"_a);
    nb::class_<PairBound>(m, "PairBound")
        .def("__init__", &make_pairs, "pairs"_a, "own"_a, "slope"_a, "u"_a, "m"_a,
             nb::keep_alive<1, 2>())
        .def("improve", &improve, "g"_a, "enough"_a, "steps"_a, "n_jobs"_a, "time_limit"_a);
}
