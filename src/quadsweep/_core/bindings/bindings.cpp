// The one place where C++ meets Python. Arrays come in validated (see validation.py), the GIL is
// released while a method runs, and taken again only to look for Ctrl-C and to report progress.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimating/register.hpp"
#include "outofcore/register.hpp"
#include "paper/sweep.hpp"
#include "plane/bound.hpp"
#include "plane/certified.hpp"
#include "plane/proof.hpp"
#include "regression/register.hpp"
#include "shared/control.hpp"
#include "shared/hot_loops.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "shared/points.hpp"
#include "test_hooks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quadsweep {
namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> span(const Column& c) { return {c.data(), c.size()}; }
std::span<const double> row(const Matrix& m, std::int64_t i) {
    return {m.data() + i * static_cast<std::int64_t>(m.shape(1)), m.shape(1)};
}

template <class T>
auto to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(held->data(), shape, owner);
}

Objective objective_named(const std::string& wanted) {
    for (int i = 0; i < objectives; ++i) {
        const auto o = static_cast<Objective>(i);
        if (name(o) == wanted) return o;
    }
    throw std::invalid_argument("unknown objective " + wanted);
}

Method method_named(const std::string& wanted) {
    const Method method = find_method(wanted);
    if (method == nullptr) throw std::invalid_argument("unknown method " + wanted);
    return method;
}

// Ctrl-C is taken as a wish to see the best so far: the exception is swallowed, the answer says
// `interrupted`. A callback that raises ends the call with its own exception.
class Watch {
  public:
    Watch(Control& control, nb::object callback, const Problem& problem)
        : callback_(std::move(callback)) {
        control.on_tick = [this, &problem](const Progress& p) { return tick(problem, p); };
    }
    void rethrow() {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    bool tick(const Problem& problem, const Progress& p) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            return false;
        }
        if (callback_.is_none()) return true;
        try {
            nb::object wish =
                callback_(value_of(problem.points, problem.objective, p.score),
                          value_of(problem.points, problem.objective, p.bound), p.nodes, p.seconds);
            return !(nb::isinstance<nb::bool_>(wish) && !nb::cast<bool>(wish));
        } catch (...) {
            failure_ = std::current_exception();
            return false;
        }
    }

    nb::object callback_;
    std::exception_ptr failure_;
};

Problem make_problem(std::span<const double> x, std::span<const double> y, int k,
                     Objective objective, double tol, std::uint64_t seed, int n_jobs) {
    return {standardise(x, y, objective, n_jobs), objective, k, tol, seed, n_jobs};
}

nb::tuple to_tuple(const Problem& problem, Answer&& answer) {
    const std::size_t found = answer.inliers.size();
    const double value = value_of(problem.points, problem.objective, answer.score);
    const double bound = value_of(problem.points, problem.objective, answer.bound);
    std::vector<std::int64_t> inliers(answer.inliers.begin(), answer.inliers.end());
    return nb::make_tuple(to_numpy(std::move(inliers), {found}), value, bound,
                          std::string(name(answer.status)), answer.nodes);
}

nb::tuple solve(const Column& x, const Column& y, int k, const std::string& objective,
                const std::string& method, double tol, double time_limit, int n_jobs,
                std::uint64_t seed, nb::object callback, double memory_limit) {
    const Method run = method_named(method);
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    Watch watch(control, std::move(callback), problem);
    Answer answer;
    {
        nb::gil_scoped_release released;
        problem = make_problem(span(x), span(y), k, chosen, tol, seed, n_jobs);
        problem.memory_limit = memory_limit;
        answer = run(problem, control);
    }
    watch.rethrow();
    return to_tuple(problem, std::move(answer));
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
    Watch watch(control, std::move(callback), problem);
    Answer answer;
    {
        nb::gil_scoped_release released;
        problem = make_problem(span(x), span(y), k, chosen, 0, 0, n_jobs);
        const int d = static_cast<int>(lifted.shape(1));
        const Coordinates h = given_lift({lifted.data(), lifted.size()}, problem.size(), d);
        answer = method == "naive" ? naive_lifted(problem, h, direction, control)
                                   : sweep_lifted(problem, h, control);
    }
    watch.rethrow();
    return to_tuple(problem, std::move(answer));
}

// The certified engine with all its forms: see certified.hpp.
nb::tuple certified_search(const Column& x, const Column& y, int k, const std::string& objective,
                           double tol, double time_limit, int n_jobs, std::uint64_t seed,
                           nb::object callback, bool at_most, double above,
                           const std::vector<std::vector<int>>& starts, int starting_lines,
                           std::int64_t enumerate, bool cells, double memory_limit) {
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    Watch watch(control, std::move(callback), problem);
    CertifiedAnswer answer;
    {
        nb::gil_scoped_release released;
        problem = make_problem(span(x), span(y), k, chosen, tol, seed, n_jobs);
        problem.memory_limit = memory_limit;
        CertifiedOptions options{at_most, std::nullopt, starts, starting_lines, enumerate, cells};
        if (!std::isnan(above)) options.above = score_of(problem.points, chosen, above);
        answer = certified(problem, options, control);
    }
    watch.rethrow();
    const double n_evaluations = answer.n_evaluations;
    const bool decided = answer.decided;
    return nb::make_tuple(to_tuple(problem, std::move(answer)), n_evaluations, decided);
}

// The tree of a proof: see proof.hpp. Values are the user's; scores are made of them here.
nb::dict prove_values(const Column& x, const Column& y, int k, const std::string& objective,
                      bool at_most, double aim, double claim, const std::vector<int>& good,
                      std::int64_t enumerate, std::size_t most_nodes, bool rounding,
                      double time_limit, nb::object callback) {
    const Objective chosen = objective_named(objective);
    Control control(time_limit);
    Problem problem;
    Watch watch(control, std::move(callback), problem);
    ProofTree tree;
    {
        nb::gil_scoped_release released;
        problem = make_problem(span(x), span(y), k, chosen, 0, 0, 1);
        const auto score = [&](double value) { return score_of(problem.points, chosen, value); };
        tree = prove(problem,
                     {at_most, score(aim), score(claim), good, enumerate, most_nodes, rounding},
                     control);
    }
    watch.rethrow();
    nb::list roots, nodes;
    for (const auto& r : tree.roots) {
        roots.append(nb::make_tuple(r.frame, nb::make_tuple(r.lo1, r.hi1, r.lo2, r.hi2), r.first));
    }
    for (const auto& node : tree.nodes) {
        nodes.append(
            nb::make_tuple(static_cast<int>(node.kind), node.hinted, node.first, node.second));
    }
    const std::size_t hinted = tree.numbers.size() / ProofTree::hints;
    nb::dict out;
    out["shift"] = nb::make_tuple(tree.shift[0], tree.shift[1]);
    out["tilt"] = tree.tilt;
    out["scale"] = nb::make_tuple(tree.scale[0], tree.scale[1]);
    out["constant"] = tree.constant;
    out["corners"] = tree.corners;
    out["roots"] = roots;
    out["nodes"] = nodes;
    out["numbers"] = to_numpy(std::move(tree.numbers), {hinted, ProofTree::hints});
    out["better"] = nb::cast(std::move(tree.better));
    out["status"] = std::string(name(tree.status));
    return out;
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
    const Problem nothing;
    Watch watch(control, nb::none(), nothing);
    {
        nb::gil_scoped_release released;
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
    }
    watch.rethrow();
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

// Of each of T data sets: has it a subset above its own threshold? 1 yes, 0 no, -1 not decided.
nb::object decide_many(const Matrix& x, const Matrix& y, int k, const std::string& objective,
                       const Column& above, double tol, double time_limit, int n_jobs,
                       std::uint64_t seed, int starting_lines) {
    const Objective chosen = objective_named(objective);
    const auto count = static_cast<std::int64_t>(x.shape(0));
    std::vector<std::int8_t> answers(count, -1);
    Control control(time_limit);
    const Problem nothing;
    Watch watch(control, nb::none(), nothing);
    {
        nb::gil_scoped_release released;
        parallel_for(n_jobs, count, [&](int worker, std::int64_t t) {
            if (worker == 0) control.look([] { return Progress{}; });
            if (control.stopped()) return false;
            const Problem problem = make_problem(row(x, t), row(y, t), k, chosen, tol, seed, 1);
            Control own(std::max(time_limit - control.seconds(), 0.0));
            follow(own, control, worker);
            CertifiedOptions options;
            options.above = score_of(problem.points, chosen, above.data()[t]);
            options.starting_lines = starting_lines;
            const CertifiedAnswer answer = certified(problem, options, own);
            if (answer.decided) answers[t] = answer.inliers.empty() ? 0 : 1;
            return true;
        });
    }
    watch.rethrow();
    const auto T = static_cast<std::size_t>(count);
    return nb::cast(to_numpy(std::move(answers), {T}));
}

// Value of one given subset, by the accurate formula.
double value(const Column& x, const Column& y, const std::vector<int>& subset,
             const std::string& objective) {
    const Objective chosen = objective_named(objective);
    const Points points = standardise(span(x), span(y), chosen);
    return value_of(points, chosen, accurate_score(points, subset, chosen));
}

// The bound of one box with one corner, for the tests: points with the given cost, the first
// `decided` of them decided, `need` of the others to be chosen.
nb::tuple bound_of_cost(const Column& x, const Column& y, const std::vector<double>& cost,
                        double base, int decided, int need) {
    if (cost.size() != 14) throw std::invalid_argument("a cost has 14 coefficients");
    const auto affine = [&](int i) { return Affine{cost[i], cost[i + 1], cost[i + 2]}; };
    Points points;
    Box box;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (static_cast<int>(i) < decided) {
            box.kept.add(x.data()[i], y.data()[i], 1);
        } else {
            points.x.push_back(x.data()[i]);
            points.y.push_back(y.data()[i]);
        }
    }
    box.need = need;
    points.given_x = points.x;
    points.given_y = points.y;
    const Cells cells = make_cells(points, {}, 1);
    Bounder bounder(cells, false);
    box.open.cell = {0};
    bounder.open_all(box);
    bounder.load(box);
    Corners corners;
    corners.count = 1;
    corners.cost[0] = {affine(0), affine(3), affine(6), affine(9), cost[12], cost[13]};
    corners.base[0] = base;
    const Bound bound = bounder.bound(corners, 0);
    return nb::make_tuple(bound.least(), bound.error);
}

}  // namespace
}  // namespace quadsweep

NB_MODULE(_core, m) {
    using namespace quadsweep;
    m.doc() = "The compiled half of quadsweep; see _core/README.md.";
    m.def("solve", &solve, "x"_a, "y"_a, "k"_a, "objective"_a, "method"_a, "tol"_a, "time_limit"_a,
          "n_jobs"_a, "seed"_a, "callback"_a.none(), "memory_limit"_a = infinity);
    m.def("solve_lifted", &solve_lifted, "x"_a, "y"_a, "lifted"_a, "k"_a, "objective"_a, "method"_a,
          "order"_a, "time_limit"_a, "n_jobs"_a, "callback"_a.none());
    m.def("certified", &certified_search, "x"_a, "y"_a, "k"_a, "objective"_a, "tol"_a,
          "time_limit"_a, "n_jobs"_a, "seed"_a, "callback"_a.none(), "at_most"_a, "above"_a,
          "starts"_a, "starting_lines"_a, "enumerate"_a, "cells"_a, "memory_limit"_a = infinity);
    m.def("solve_many", &solve_many, "x"_a, "y"_a, "k"_a, "objective"_a, "method"_a, "tol"_a,
          "time_limit"_a, "n_jobs"_a, "seed"_a);
    m.def("prove", &prove_values, "x"_a, "y"_a, "k"_a, "objective"_a, "at_most"_a, "aim"_a,
          "claim"_a, "good"_a, "enumerate"_a, "most_nodes"_a, "rounding"_a, "time_limit"_a,
          "callback"_a.none());
    m.def("lowered", &lowered, "x"_a, "y"_a, "k"_a, "objective"_a, "value"_a, "tol"_a);
    m.def("decide_many", &decide_many, "x"_a, "y"_a, "k"_a, "objective"_a, "above"_a, "tol"_a,
          "time_limit"_a, "n_jobs"_a, "seed"_a, "starting_lines"_a);
    m.def("value", &value, "x"_a, "y"_a, "subset"_a, "objective"_a);
    m.def("bound_of_cost", &bound_of_cost, "x"_a, "y"_a, "cost"_a, "base"_a, "decided"_a, "need"_a);
    m.def("instruction_set", [] { return std::string(hot_loops().name); });
    m.def(
        "choose_instruction_set",
        [](const std::string& wanted) { return choose_hot_loops(wanted); }, "name"_a);
    add_test_hooks(m);
    regression::bind(m);
    estimating::bind(m);
    outofcore::bind(m);
    nb::list statuses;
    for (int s = 0; s < 6; ++s) statuses.append(std::string(name(static_cast<Status>(s))));
    m.attr("STATUSES") = statuses;
}
