// One predictor, from Python: `_core.pyi` describes it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "paper/sweep.hpp"
#include "plane/certified.hpp"
#include "plane/proof.hpp"
#include "python.hpp"
#include "search/debug_solution.hpp"
#include "shared/hot_loops.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "shared/points.hpp"

using namespace nanobind::literals;

namespace quadsweep {
namespace {

std::span<const double> row(const Matrix& m, std::int64_t i) {
    return {m.data() + i * static_cast<std::int64_t>(m.shape(1)), m.shape(1)};
}

Method method_named(const std::string& wanted) {
    const Method method = find_method(wanted);
    if (method == nullptr) throw std::invalid_argument("unknown method " + wanted);
    return method;
}

Problem make_problem(std::span<const double> x, std::span<const double> y, int k,
                     Objective objective, double tol, std::uint64_t seed, int n_jobs) {
    Problem problem{standardise(x, y, objective, n_jobs), objective, k, tol, seed, n_jobs};
    if (problem.points.wide && objective != Objective::var) {
        throw std::invalid_argument(
            "x or y has entries that differ by more than 60 powers of ten; "
            "drop or replace values that stand for missing ones, such as 1e300");
    }
    return problem;
}

// From a score to the user's units; the problem may still be made.
auto value_in(const Problem& problem) {
    return [&problem](double score) { return value_of(problem.points, problem.objective, score); };
}

nb::tuple to_tuple(const Problem& problem, const Answer& answer) {
    const auto value = value_in(problem);
    return nb::make_tuple(to_rows(answer.inliers), value(answer.score), value(answer.bound),
                          text(answer.status), answer.nodes);
}

nb::tuple solve(const Column& x, const Column& y, int k, const std::string& objective,
                const std::string& method, double tol, double time_limit, int n_jobs,
                std::uint64_t seed, nb::object callback, double memory_limit) {
    const Method run = method_named(method);
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    Answer answer;
    watched(control, callback, scores_as(value_in(problem)), [&] {
        problem = make_problem(span(x), span(y), k, chosen, tol, seed, n_jobs);
        problem.memory_limit = memory_limit;
        answer = run(problem, control);
    });
    return to_tuple(problem, answer);
}

Order order_named(const std::string& wanted) {
    if (wanted == "both") return Order::both;
    if (wanted == "ascending") return Order::ascending;
    if (wanted == "descending") return Order::descending;
    throw std::invalid_argument("unknown order " + wanted);
}

// The two sweeps under a lift given as rows.
nb::tuple solve_lifted(const Column& x, const Column& y, const Matrix& lifted, int k,
                       const std::string& objective, const std::string& method,
                       const std::string& order, double time_limit, int n_jobs,
                       nb::object callback) {
    const Objective chosen = objective_named(objective);
    const Order direction = order_named(order);
    if (method != "naive" && method != "sweep")
        throw std::invalid_argument("unknown method " + method);
    Control control(time_limit);
    Problem problem;
    Answer answer;
    watched(control, callback, scores_as(value_in(problem)), [&] {
        problem = make_problem(span(x), span(y), k, chosen, 0, 0, n_jobs);
        const int d = static_cast<int>(lifted.shape(1));
        const Coordinates h = given_lift({lifted.data(), lifted.size()}, problem.size(), d);
        answer = method == "naive" ? naive_lifted(problem, h, direction, control)
                                   : sweep_lifted(problem, h, control);
    });
    return to_tuple(problem, answer);
}

// The certified engine with all its forms: see certified.hpp.
nb::tuple certified_search(const Column& x, const Column& y, int k, const std::string& objective,
                           double tol, double time_limit, int n_jobs, std::uint64_t seed,
                           nb::object callback, bool k_or_more, double above,
                           const std::vector<std::vector<int>>& starts, int starting_lines,
                           std::int64_t enumeration_limit, bool cells, double memory_limit) {
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    CertifiedAnswer answer;
    watched(control, callback, scores_as(value_in(problem)), [&] {
        problem = make_problem(span(x), span(y), k, chosen, tol, seed, n_jobs);
        problem.memory_limit = memory_limit;
        CertifiedOptions options{k_or_more,      std::nullopt,      starts,
                                 starting_lines, enumeration_limit, cells};
        if (!std::isnan(above)) options.above = score_of(problem.points, chosen, above);
        answer = certified(problem, options, control);
    });
    return nb::make_tuple(to_tuple(problem, answer), answer.n_evaluations, answer.decided);
}

// The tree of a proof: see proof.hpp. Values are the user's; scores are made of them here.
nb::dict prove_values(const Column& x, const Column& y, int k, const std::string& objective,
                      bool k_or_more, double aim, double claim, const std::vector<int>& good,
                      std::int64_t enumeration_limit, std::size_t most_nodes, bool rounding,
                      double time_limit, nb::object callback) {
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    ProofTree tree;
    watched(control, callback, scores_as(value_in(problem)), [&] {
        problem = make_problem(span(x), span(y), k, chosen, 0, 0, 1);
        const auto score = [&](double value) { return score_of(problem.points, chosen, value); };
        tree = prove(
            problem,
            {k_or_more, score(aim), score(claim), good, enumeration_limit, most_nodes, rounding},
            control);
    });
    nb::list roots, nodes;
    for (const auto& r : tree.roots) {
        roots.append(nb::make_tuple(r.frame, nb::make_tuple(r.lo1, r.hi1, r.lo2, r.hi2), r.first));
    }
    for (const auto& node : tree.nodes) {
        nodes.append(
            nb::make_tuple(static_cast<int>(node.kind), node.hinted, node.first, node.second));
    }
    const std::size_t hinted = tree.numbers.size() / ProofTree::hints;
    return dict_of("shift", nb::make_tuple(tree.shift[0], tree.shift[1]), "tilt", tree.tilt,
                   "scale", nb::make_tuple(tree.scale[0], tree.scale[1]), "constant", tree.constant,
                   "corners", tree.corners, "roots", roots, "nodes", nodes, "numbers",
                   to_numpy(std::move(tree.numbers), {hinted, ProofTree::hints}), "better",
                   tree.better, "status", text(tree.status));
}

// One problem of many stops when the whole batch does. Python is asked by the first worker alone.
void follow(Control& own, Control& batch, int worker) {
    own.on_tick = [&batch, worker](const Progress&) {
        if (worker == 0) batch.look([] { return Progress{}; });
        return !batch.stopped();
    };
}

// T problems over threads, each solved by one thread.
nb::tuple solve_many(const Matrix& x, const Matrix& y, int k, const std::string& objective,
                     const std::string& method, double tol, double time_limit, int n_jobs,
                     std::uint64_t seed) {
    const Method run = method_named(method);
    const Objective chosen = objective_named(objective);
    const auto count = static_cast<std::int64_t>(x.shape(0));
    const std::size_t n = x.shape(1);
    std::vector<double> values(count, std::numeric_limits<double>::quiet_NaN()), bounds = values;
    std::vector<std::uint8_t> masks(count * n, 0);
    std::vector<std::int8_t> statuses(count, static_cast<std::int8_t>(Status::interrupted));
    std::vector<std::uint64_t> nodes(count, 0);
    Control control(time_limit);
    watched(control, [&] {
        parallel_for(n_jobs, count, [&](int worker, std::int64_t t) {
            if (worker == 0) control.look([] { return Progress{}; });
            if (control.stopped()) {
                statuses[t] = static_cast<std::int8_t>(control.status(Status::optimal));
                return true;
            }
            const Problem problem = make_problem(row(x, t), row(y, t), k, chosen, tol, seed, 1);
            Control own(std::max(time_limit - control.seconds(), 0.0));
            follow(own, control, worker);
            const Answer answer = run(problem, own);
            values[t] = value_of(problem.points, chosen, answer.score);
            bounds[t] = value_of(problem.points, chosen, answer.bound);
            for (int i : answer.inliers) masks[t * n + i] = 1;
            statuses[t] = static_cast<std::int8_t>(answer.status);
            nodes[t] = answer.nodes;
            return true;
        });
    });
    const auto T = static_cast<std::size_t>(count);
    return nb::make_tuple(to_numpy(std::move(values), {T}), to_numpy(std::move(bounds), {T}),
                          to_numpy(std::move(masks), {T, n}), to_numpy(std::move(statuses), {T}),
                          to_numpy(std::move(nodes), {T}));
}

// A value that is worse by twice the tolerance: every subset that is at least as good as `value`
// is surely above it, and is found by the engine's decision form. Values of next to nothing are
// lowered by a share of the data's scale, which is 1 for a score.
double lowered(const Column& x, const Column& y, int k, const std::string& objective, double value,
               double tol) {
    const Objective chosen = objective_named(objective);
    const Points points = standardise(span(x), span(y), chosen);
    const double score = score_of(points, chosen, value);
    const bool absolute = chosen == Objective::r2 || chosen == Objective::r;
    const double scale = chosen == Objective::lts ? k : 1;
    const double by =
        absolute ? tol + 1e-14 : std::max((tol + 1e-14) * std::fabs(score), 1e-12 * scale);
    return value_of(points, chosen, score - 2 * by);
}

// Value of one given subset, by the accurate formula.
double value(const Column& x, const Column& y, const std::vector<int>& subset,
             const std::string& objective) {
    const Objective chosen = objective_named(objective);
    const Points points = standardise(span(x), span(y), chosen);
    return value_of(points, chosen, accurate_score(points, subset, chosen));
}

}  // namespace

void bind_plane(nb::module_& m) {
#ifdef QUADSWEEP_DEBUG_SOLUTION
    m.def(
        "set_debug_solution",
        [](std::vector<int> rows, int spoil) {
            std::sort(rows.begin(), rows.end());
            debug_solution = {std::move(rows), spoil};
            listing_solution = false;
        },
        "rows"_a, "spoil"_a = 0);
#endif
    m.def("solve", &solve, "x"_a, "y"_a, "k"_a, "objective"_a, "method"_a, "tol"_a, "time_limit"_a,
          "n_jobs"_a, "seed"_a, "callback"_a.none(), "memory_limit"_a = infinity);
    m.def("solve_lifted", &solve_lifted, "x"_a, "y"_a, "lifted"_a, "k"_a, "objective"_a, "method"_a,
          "order"_a, "time_limit"_a, "n_jobs"_a, "callback"_a.none());
    m.def("certified", &certified_search, "x"_a, "y"_a, "k"_a, "objective"_a, "tol"_a,
          "time_limit"_a, "n_jobs"_a, "seed"_a, "callback"_a.none(), "k_or_more"_a, "above"_a,
          "starts"_a, "starting_lines"_a, "enumeration_limit"_a, "cells"_a,
          "memory_limit"_a = infinity);
    m.def("solve_many", &solve_many, "x"_a, "y"_a, "k"_a, "objective"_a, "method"_a, "tol"_a,
          "time_limit"_a, "n_jobs"_a, "seed"_a);
    m.def("prove", &prove_values, "x"_a, "y"_a, "k"_a, "objective"_a, "k_or_more"_a, "aim"_a,
          "claim"_a, "good"_a, "enumeration_limit"_a, "most_nodes"_a, "rounding"_a, "time_limit"_a,
          "callback"_a.none());
    m.def("lowered", &lowered, "x"_a, "y"_a, "k"_a, "objective"_a, "value"_a, "tol"_a);
    m.def("value", &value, "x"_a, "y"_a, "subset"_a, "objective"_a);
    m.def("instruction_set", [] { return std::string(hot_loops().name); });
    m.def(
        "choose_instruction_set",
        [](const std::string& wanted) { return choose_hot_loops(wanted); }, "name"_a);
}

}  // namespace quadsweep
