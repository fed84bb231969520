#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "least_variance.hpp"
#include "parts.hpp"

using namespace nanobind::literals;

namespace quadsweep {
namespace {

// The k numbers that vary least, by the example of a relaxation.
nb::tuple vary_least(const std::vector<double>& x, int k, int n_jobs, double time_limit,
                     double memory_limit, double depth_first_at, double serial_evaluations,
                     double most_boxes, nb::object callback) {
    Control control(time_limit);
    least_variance::Relaxation relaxation(x, k);
    Driver driver(relaxation,
                  Limits{n_jobs, serial_evaluations, most_boxes, depth_first_at, memory_limit},
                  control);
    watched(control, callback, scores_as([](double score) { return -score; }), [&] {
        driver.begin(relaxation.roots());
        driver.run();
    });
    const Standing at = driver.standing();
    const bool proved = at.valid && at.closed && at.deferred == undefined;
    const double open = relaxation.finished() ? undefined : at.open;
    const bool done = proved || relaxation.finished();
    return nb::make_tuple(
        to_numpy(std::vector<std::int64_t>(relaxation.best.subset.begin(),
                                           relaxation.best.subset.end())),
        -relaxation.best.score, -std::max(open, relaxation.goal()),
        std::string(name(done ? Status::optimal : control.status(Status::heuristic))),
        driver.n_boxes());
}

}  // namespace
}  // namespace quadsweep

NB_MODULE(_core_parts, m) {
    using namespace quadsweep;
    m.doc() = "Parts of the compiled half by themselves, for the tests.";
    bind_plane_parts(m);
    bind_regression_parts(m);
    m.def("vary_least", &vary_least, "x"_a, "k"_a, "n_jobs"_a = 1, "time_limit"_a = infinity,
          "memory_limit"_a = infinity, "depth_first_at"_a = infinity, "serial_evaluations"_a = 0.0,
          "most_boxes"_a = infinity, "callback"_a.none() = nb::none());
}
