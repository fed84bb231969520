// Subproblems. If rounding hides whether a box can be pruned, its rows are solved as a problem of
// their own, with a better centre and scale.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <vector>

#include "incumbents.hpp"

namespace quadsweep {

class Parts {
  public:
    // `halt`: whether the search that asks is to end.
    Parts(const Problem& problem, const CertifiedOptions& options, Incumbents& known,
          std::function<bool()> halt)
        : problem_(problem), options_(options), known_(known), halt_(std::move(halt)) {}

    // Whether it is now proved that none of these rows' subsets passes bound() and the best known.
    bool resolve(const std::vector<int>& rows);
    double bound() const { return bound_; }

  private:
    bool solve(const std::vector<int>& rows);

    const Problem& problem_;
    const CertifiedOptions& options_;
    Incumbents& known_;
    std::function<bool()> halt_;
    Mutex mutex_;
    std::set<std::vector<int>> resolved_;
    std::atomic<double> bound_{undefined};
};

}  // namespace quadsweep
