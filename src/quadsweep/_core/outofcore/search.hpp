// Branch and bound over leaves of a partition most of which are unloaded.
//
// A box that only unloaded cells keep open is deferred, and the leaves whose rows would decide it
// are asked for. Where no row is loaded yet, the score to be beaten is an estimate, with cells that
// the threshold cuts counted in part: such a search finds out which leaves to load and proves no
// more than that nothing passes the estimate. The answer is `optimal` only if its subset is real
// and no box is deferred.
//
// A search may also be asked to decide: is there a subset, of k rows or of k or more, that scores
// above a threshold? It ends with the first one, or with a proof that there is none, or with leaves
// to load.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "assembly.hpp"
#include "shared/control.hpp"
#include "shared/cost.hpp"

namespace quadsweep::outofcore {

// The covariance of two columns made of x and y.
struct Product {
    Affine f, g;
};

// When a search ends.
enum class Until {
    proved,   // the best subset is known
    decided,  // a subset above the threshold is known, or that there is none
    begun,    // the starts have been followed as far as they lead
};

struct Question {
    Objective objective = Objective::r2;
    std::optional<Product> product;  // instead of the objective, which is then cov
    std::int64_t k = 0;
    double tol = 1e-9;
    int n_jobs = 1;
    double memory = infinity;     // bytes, of the boxes that wait
    double most_rows = infinity;  // that may be asked for; beyond, the search ends
    double gap_x = 0, gap_y = 0;  // see outer_ranges
    double tilt = 0;              // the slope of the line that the points are placed on, placed
    Until until = Until::proved;
    double above = undefined;  // the threshold
    bool k_or_more = false;    // k rows or more
};

struct Found {
    bool real = false;                 // the subset below exists; else its score is an estimate
    std::vector<std::int32_t> leaves;  // kept whole
    std::vector<std::int64_t> rows;    // positions among the loaded ones
    std::vector<std::pair<std::int32_t, std::int64_t>> copies;  // of a leaf that is one point
    Moments moments;                                            // of the subset
    double score = undefined, bound = infinity;                 // in placed coordinates
    Status status = Status::heuristic;
    bool refuted = false;         // no subset scores above the threshold
    double estimate = undefined;  // the best that the starts promise, cells counted in part
    std::uint64_t nodes = 0;
    std::vector<std::int32_t> wanted;  // leaves to load
};

// Leaves and rows made ready for any number of questions.
class LoadedPartition {
  public:
    LoadedPartition(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
                    int n_jobs);

    // `starts`: moments of good subsets, for one point. `mirrored`: with -y in the place of y, in
    // the question, the starts and what is found.
    Found search(const Question& question, const std::vector<Moments>& starts, bool mirrored,
                 Control& control);
    Ranges ranges(const Question& question) const;
    // In the sums of any selection, relative to its sums of squares.
    double roundings() const { return assembly_.cells.roundings; }

  private:
    void mirror();

    std::vector<Leaf> table_;
    Assembly assembly_;
    bool loaded_, mirrored_ = false;
};

// Where to place the points, and where to start, by a sample as given.
struct Plan {
    Placing at;
    std::vector<Moments> starts;
};
Plan plan(std::span<const double> x, std::span<const double> y, Objective objective, double share,
          std::uint64_t seed, int n_jobs);

}  // namespace quadsweep::outofcore
