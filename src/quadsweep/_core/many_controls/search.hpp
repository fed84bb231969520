// Does the form stay positive whichever m items are removed? Branch and bound on the item that may
// take most: it is removed, or kept for good.
#pragma once

#include <cstdint>
#include <vector>

#include "bound.hpp"
#include "form.hpp"
#include "shared/control.hpp"

namespace quadsweep::many_controls {

struct Options {
    int m = 1;
    std::int64_t most_nodes = 1;  // 1: the root alone
    int n_jobs = 1;
    double seconds = infinity;
    double memory = 5e8;  // bytes for what waits
};

struct Verdict {
    bool proved = false;
    std::vector<int>
        removal;  // items without which the form is zero or negative, in floating point
    std::int64_t nodes = 0;
    double ratio = 0;  // at the root: what m items may take, of what there is
};

class Prover {
  public:
    explicit Prover(const Form& form);
    Verdict refute(const Options& options, Control& control);
    // What is left at least whatever m items go; minus infinity where that is not known.
    double least(int m, double seconds) const;
    // The bound for these d, for the tests.
    double total(int m, const std::vector<double>& d) const;

  private:
    State root_;
    std::vector<double> d_;  // as of the last root that was bounded
};

}  // namespace quadsweep::many_controls
