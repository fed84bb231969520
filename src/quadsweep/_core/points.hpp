// The points in the kernels' own coordinates, the question asked of them, and the answer.
//
//   x = (X - mx) * 2^-ex,   y = (Y - my) * 2^-ey
//
// mx is one of the data (the median) and the scale is a power of two, so integers and other
// lattices keep their ties exactly, scaling rounds nothing, and centring moves a point by at most
// half an ulp of its distance from the median. Values go back by a power of two, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "objectives.hpp"

namespace quadsweep {

struct Points {
    std::vector<double> x, y;
    double mx = 0, my = 0;
    int ex = 0, ey = 0;

    int size() const { return static_cast<int>(x.size()); }
};

// Objectives that add x to y (tv, dv) need one scale for both axes; the others get one each.
Points standardise(std::span<const double> x, std::span<const double> y, Objective objective,
                   int n_jobs = 1);

enum class Status { optimal, best_separable, heuristic, time_limit, interrupted, memory_limit };
std::string_view name(Status status);

struct Problem {
    Points points;
    Objective objective = Objective::r2;
    int k = 0;
    double tol = 1e-9;
    std::uint64_t seed = 0;
    int n_jobs = 1;
    double memory_limit = infinity;  // bytes, of the boxes that wait

    int size() const { return points.size(); }
};

struct Answer {
    std::vector<int> inliers;  // sorted
    double score = undefined;  // in standardised coordinates
    double bound = infinity;   // no subset scores more
    Status status = Status::optimal;
    std::uint64_t nodes = 0;
};

// The score of a subset from sums centred at its own mean, accurate however far it lies from the
// origin. `undefined` where the objective has no value on it.
double accurate_score(const Points& points, std::span<const int> subset, Objective objective);

// A bound that holds for every subset and costs nothing: for methods that prove nothing.
double trivial_bound(const Problem& problem);

// From a score in standardised coordinates to the objective's value in the user's units.
double value_of(const Points& points, Objective objective, double score);
double score_of(const Points& points, Objective objective, double value);

// The best subset so far. Larger scores win; equal scores go to the smaller subset in dictionary
// order, so that the answer does not depend on which thread came first.
struct Incumbent {
    double score = undefined;
    std::vector<int> subset;

    bool offer(double candidate, std::span<const int> sorted_subset);
    void merge(const Incumbent& other) { offer(other.score, other.subset); }
};

}  // namespace quadsweep
