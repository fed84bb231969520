// The engine as a page sees it: plain numbers in and out of one memory, nothing thrown, one thread.
// report/live/engine.js is the other side. What it says of the arguments holds here too.
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "plane/certified.hpp"
#include "shared/methods.hpp"

namespace {

using namespace quadsweep;

// Told twenty times a second: the value so far, the bound, boxes, seconds. Returns 0 to stop.
__attribute__((import_module("page"), import_name("tick"))) extern "C" int page_tick(
    double value, double bound, double nodes, double seconds);

constexpr double memory_limit = 512e6;  // of the boxes that wait; a page has 4 GB in all

Problem make_problem(std::span<const double> x, std::span<const double> y, int k,
                     Objective objective, double tol, double seed) {
    Problem problem{standardise(x, y, objective, 1),  objective, k, tol,
                    static_cast<std::uint64_t>(seed), 1};
    problem.memory_limit = memory_limit;
    return problem;
}

Method method_numbered(int number) {
    constexpr Method methods[] = {certified_method, exhaustive, univariate, concentrate};
    return methods[number];
}

// out: value, bound, status, nodes, whether decided. Returns how many inliers were written.
int write(const Problem& problem, const Answer& answer, bool decided, double* out, int* inliers) {
    out[0] = value_of(problem.points, problem.objective, answer.score);
    out[1] = value_of(problem.points, problem.objective, answer.bound);
    out[2] = static_cast<double>(answer.status);
    out[3] = static_cast<double>(answer.nodes);
    out[4] = decided;
    for (std::size_t i = 0; i < answer.inliers.size(); ++i) inliers[i] = answer.inliers[i];
    return static_cast<int>(answer.inliers.size());
}

void tell(Control& control, const Problem& problem) {
    control.on_tick = [&](const Progress& p) {
        return page_tick(value_of(problem.points, problem.objective, p.score),
                         value_of(problem.points, problem.objective, p.bound),
                         static_cast<double>(p.nodes), p.seconds) != 0;
    };
}

}  // namespace

#define QUADSWEEP_EXPORT(name) __attribute__((export_name(#name))) extern "C"

QUADSWEEP_EXPORT(allocate) void* quadsweep_allocate(std::size_t bytes) {
    return std::malloc(bytes);
}
QUADSWEEP_EXPORT(release) void quadsweep_release(void* memory) { std::free(memory); }

// The best k of n points.
QUADSWEEP_EXPORT(solve)
int quadsweep_solve(const double* x, const double* y, int n, int k, int objective, int method,
                    double tol, double time_limit, double seed, double* out, int* inliers) {
    const auto size = static_cast<std::size_t>(n);
    const Problem problem =
        make_problem({x, size}, {y, size}, k, static_cast<Objective>(objective), tol, seed);
    Control control(time_limit);
    tell(control, problem);
    const Method run = problem.points.wide ? concentrate : method_numbered(method);
    return write(problem, run(problem, control), true, out, inliers);
}

// Whether some subset of k or more points has a value above `above`: one that has, or none and
// decided.
QUADSWEEP_EXPORT(decide)
int quadsweep_decide(const double* x, const double* y, int n, int k, int objective, double above,
                     double time_limit, double* out, int* inliers) {
    const auto size = static_cast<std::size_t>(n);
    const Problem problem =
        make_problem({x, size}, {y, size}, k, static_cast<Objective>(objective), 0.0, 0);
    Control control(time_limit);
    tell(control, problem);
    if (problem.points.wide) return write(problem, {}, false, out, inliers);
    CertifiedOptions options;
    options.k_or_more = true;
    options.above = score_of(problem.points, problem.objective, above);
    const CertifiedAnswer answer = certified(problem, options, control);
    return write(problem, answer, answer.decided, out, inliers);
}
