// Decides whether the bound prunes a box, refining cells as far as needed.
#pragma once

#include <vector>

#include "bound.hpp"
#include "box.hpp"
#include "criterion.hpp"
#include "search/relaxation.hpp"

namespace quadsweep {

class Opener {
  public:
    Opener(const Criterion& criterion, Bounder& bounder)
        : criterion_(criterion), bounder_(bounder) {}

    // Leaves the choice at the box's centre and the bound at its corners, as it was last loaded.
    // Deferred: it is kept open by cells, more than by its width, and none of them can be opened.
    Ending close(Box& box, Choice& choice, Bound& bound);

  private:
    bool closes_in_parts(Box& box, const Choice& choice);
    bool positive_at_nodes(Box& box);
    double width(const Box& box, const Choice& worst) const;

    const Criterion& criterion_;
    Bounder& bounder_;
    std::vector<Node> nodes_, left_;  // of a lattice, and those of them that are not positive yet
};

}  // namespace quadsweep
