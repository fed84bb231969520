// The search around scores, from Python. Arrays come in validated; the GIL is released meanwhile.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "python.hpp"
#include "scores/search.hpp"

using namespace nanobind::literals;

namespace quadsweep::scores {
namespace {

// Where parts begin among so many, and their end.
void check_parts(const std::vector<int>& first, int count, const char* what) {
    if (first.size() < 2 || first.front() != 0 || first.back() != count ||
        !std::is_sorted(first.begin(), first.end(), std::less_equal<int>())) {
        throw std::invalid_argument(what);
    }
}

void make_question(Question* self, const Matrix& columns, const Column& effect,
                   std::vector<int> item_first, std::vector<int> unit_first,
                   std::vector<int> cluster_first, std::vector<int> part_first, double exponent,
                   bool gained, double error, double most_sets) {
    Question question;
    question.rows = static_cast<int>(columns.shape(0));
    question.controls = static_cast<int>(columns.shape(1)) - 2;
    question.columns = {columns.data(), columns.data() + columns.size()};
    question.effect = entries(effect);
    question.item_first = std::move(item_first);
    question.unit_first = std::move(unit_first);
    question.cluster_first = std::move(cluster_first);
    question.part_first = std::move(part_first);
    question.exponent = exponent;
    question.gained = gained;
    question.error = error;
    question.most_sets = most_sets;
    check_parts(question.item_first, question.rows, "items do not cover the rows");
    check_parts(question.unit_first, question.items(), "units do not cover the items");
    check_parts(question.cluster_first, question.units(), "clusters do not cover the units");
    if (question.of_parts()) {
        const auto& parts = question.part_first;
        check_parts(parts, question.rows, "parts do not cover the rows");
        bool inside = question.clusters() == question.items();
        for (int row : question.item_first) {
            inside = inside && std::binary_search(parts.begin(), parts.end(), row);
        }
        if (!inside) throw std::invalid_argument("parts are not inside of the items");
    }
    if (question.controls < 0 || question.effect.size() != columns.shape(0)) {
        throw std::invalid_argument("columns differ in length");
    }
    if (exponent != 0 && !question.of_rows()) {
        throw std::invalid_argument("leverages are for clusters of one row");
    }
    new (self) Question(std::move(question));
}

nb::dict decide_scores(Question question, int most, double threshold, int n_jobs,
                       double memory_limit, double most_nodes, std::optional<double> time_limit,
                       nb::object progress) {
    question.threshold = threshold;
    Control control(time_limit.value_or(infinity));
    Options options;
    options.m = most;
    options.most_nodes = most_nodes;
    options.n_jobs = n_jobs;
    options.memory = memory_limit;
    Verdict verdict;
    watched(control, progress, counted, [&] { verdict = decide(question, options, control); });
    return dict_of("complete", verdict.proved, "breaking", verdict.removal, "unclear", verdict.near,
                   "count", verdict.nodes, "free", verdict.free, "status", ending(control));
}

}  // namespace
}  // namespace quadsweep::scores

void quadsweep::bind_scores(nb::module_& m) {
    using namespace scores;
    nb::class_<Question>(m, "ScoreTest")
        .def("__init__", &make_question, "columns"_a, "effect"_a, nb::kw_only(), "item_first"_a,
             "unit_first"_a, "cluster_first"_a, "part_first"_a = std::vector<int>{},
             "exponent"_a = 0.0, "gained"_a = false, "error"_a = 0.0,
             "most_sets"_a = Question{}.most_sets);
    m.def("decide_scores", &decide_scores, "test"_a, "most"_a, "threshold"_a, nb::kw_only(),
          "n_jobs"_a = 1, "memory_limit"_a = infinity, "most_nodes"_a = infinity,
          "time_limit"_a.none() = nb::none(), "progress"_a.none() = nb::none());
}
