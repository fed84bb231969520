// Bounds for many controls, from Python. Arrays come in validated; the GIL is released while a
// proof is searched for.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "many_controls/search.hpp"
#include "python.hpp"

using namespace nanobind::literals;

namespace quadsweep::many_controls {
namespace {

using Vector = Given<double>;
using Labels = Given<std::int64_t>;

std::vector<int> numbers(const Labels& v) { return {v.data(), v.data() + v.size()}; }

// z has a row for each control: the columns of Q, one after the other.
void make_prover(Prover* self, const Matrix& z, const Vector& p, const Vector& q,
                 const Vector& extra, const Vector& e, const Labels& classes, const Labels& items,
                 double rounding) {
    Form form;
    form.rows = static_cast<int>(p.size());
    form.rank = static_cast<int>(z.shape(0));
    for (std::size_t length : {q.size(), extra.size(), e.size(), classes.size(), items.size()}) {
        if (length != p.size()) throw std::invalid_argument("columns differ in length");
    }
    if (form.rank > 0 && z.shape(1) != p.size()) {
        throw std::invalid_argument("z and p differ in length");
    }
    form.z.assign(z.data(), z.data() + z.size());
    form.p = entries(p);
    form.q = entries(q);
    form.extra = entries(extra);
    for (double v : form.extra) {
        if (!(v >= 0)) throw std::invalid_argument("extra must not be negative");
    }
    form.e = entries(e);
    form.class_of = numbers(classes);
    form.item_of = numbers(items);
    for (int i : form.item_of) {
        if (i < 0 || i >= form.rows)
            throw std::invalid_argument("items must be labelled 0, 1, ...");
        form.items = std::max(form.items, i + 1);
    }
    form.rounding = rounding;
    new (self) Prover(form);
}

nb::dict refute(Prover& prover, int m, std::int64_t most_nodes, int n_jobs, double memory,
                std::optional<double> time_limit, nb::object progress) {
    Control control(time_limit.value_or(infinity));
    Options options;
    options.m = m;
    options.most_nodes = most_nodes;
    options.n_jobs = n_jobs;
    options.memory = memory;
    options.seconds = time_limit.value_or(infinity);
    Verdict verdict;
    watched(control, progress, counted, [&] { verdict = prover.refute(options, control); });
    return dict_of("proved", verdict.proved, "removal", verdict.removal, "nodes", verdict.nodes,
                   "ratio", verdict.ratio, "status", ending(control));
}

}  // namespace

}  // namespace quadsweep::many_controls

void quadsweep::bind_many_controls(nb::module_& m) {
    using namespace many_controls;
    nb::class_<Prover>(m, "ManyControls")
        .def("__init__", &make_prover, "z"_a, "p"_a, "q"_a, nb::kw_only(), "extra"_a, "e"_a,
             "classes"_a, "items"_a, "rounding"_a)
        .def("refute", &refute, "m"_a, nb::kw_only(), "most_nodes"_a = 1, "n_jobs"_a = 1,
             "memory"_a = Options{}.memory, "time_limit"_a.none() = nb::none(),
             "progress"_a.none() = nb::none())
        .def(
            "least",
            [](Prover& prover, int m, std::optional<double> time_limit) {
                return unlocked([&] { return prover.least(m, time_limit.value_or(infinity)); });
            },
            "m"_a, "time_limit"_a.none() = nb::none())
        .def("total", &Prover::total, "m"_a, "d"_a);
}
