// One thread's tools for looking at boxes: each is bounded, its points decided, and then closed,
// listed or split. An open box also proposes the subset of its centre.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bound.hpp"
#include "branching.hpp"
#include "incumbents.hpp"
#include "opener.hpp"
#include "parts.hpp"

namespace quadsweep {

class Worker {
  public:
    Worker(const Problem& problem, const CertifiedOptions& options, const Placement& placement,
           const Criterion& criterion, Incumbents& known, Parts& parts);
    Worker(const Worker&) = delete;  // its tools refer to each other

    // Adds what is left of the box to `children`. False once the score to be beaten has left the
    // range where the criterion is valid: then nothing follows from the boxes.
    bool process(std::unique_ptr<Box> box, Boxes& children);

    // Boxes looked at since the last call.
    std::uint64_t take_count() { return std::exchange(boxes_, 0); }
    double looked_at() const { return bounder_.looked_at; }

  private:
    void propose(const Box& box, const Choice& choice);
    void explore_from(const Choice& choice);
    double score_of_choice(const Moments& m, double weight) const;
    std::optional<Moments> filled(const Box& box, const Choice& choice) const;
    Moments rescaled(const Choice& choice) const;
    bool list(Box& box, std::int64_t most);

    const Problem& problem_;
    const CertifiedOptions& options_;
    const Placement& placed_;
    Incumbents& known_;
    Parts& parts_;
    std::unique_ptr<Criterion> criterion_;
    Bounder bounder_;
    Opener opener_;
    double explored_ = 0;  // cells and points costed for proposals
    std::uint64_t boxes_ = 0;
};

}  // namespace quadsweep
