#include "opener.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tuning.hpp"

namespace quadsweep {
namespace {

// Where a lattice is not positive, a corner of it mostly is not.
void corners_first(std::vector<Node>& nodes, PartCounts parts) {
    const auto last = nodes.size() - 1, row = static_cast<std::size_t>(parts.of[1]);
    if (last == row || last < 4) return;
    std::swap(nodes[1], nodes[row]);
    std::swap(nodes[2], nodes[last - row]);
    std::swap(nodes[3], nodes[last]);
}

// The lattice with the fewest nodes whose parts lose at most `spare`, where a box loses `lost` by
// its two widths: none of a part if there is no such lattice.
PartCounts fewest_parts(const double (&lost)[2], double spare) {
    PartCounts best{};
    double fewest = infinity;
    for (int a = 1; a <= tuning::most_parts && 2 * (a + 1) < fewest; ++a) {
        const double left = spare - lost[0] / (a * a);
        if (!(left > 0)) continue;
        const double b = std::max(1.0, std::ceil(std::sqrt(lost[1] / left)));
        if (b > tuning::most_parts || !((a + 1) * (b + 1) < fewest)) continue;
        fewest = (a + 1) * (b + 1);
        best = {{a, static_cast<int>(b)}};
    }
    return best;
}

}  // namespace

// Cells are opened while they are what keeps the box open, or much of it: not where halving the box
// would gain more.
Ending Opener::close(Box& box, Choice& choice, Bound& bound) {
    for (bool first = true;; first = false) {
        bounder_.load(box);
        const Corners corners = criterion_.corners(box, bounder_, choice);
        if (first && closes_in_parts(box, choice)) return Ending::closed;
        criterion_.lattice(box, {{1, 1}}, nodes_);
        bound = bounder_.bound(nodes_.size() == 4 ? nodes_ : corners.nodes(), box.lambda);
        if (bound.least() >= bound.error) return Ending::closed;
        const double coarse = bounder_.coarseness(), missing = std::fabs(bound.least());
        if (coarse <= tuning::coarse_share * missing) return Ending::open;
        const bool narrower = coarse < width(box, bounder_.chosen_at_worst(bound));
        if (narrower && coarse < tuning::closing_share * missing) return Ending::open;
        if (!bounder_.open_cells(box)) return narrower ? Ending::open : Ending::deferred;
    }
}

double Opener::width(const Box& box, const Choice& worst) const {
    return criterion_.width_cost(box, 0, worst) + criterion_.width_cost(box, 1, worst);
}

// Where the centre has so much to spare that parts of the box would close, though not the whole,
// they may do so together: they share their corners, and these the centre's multipliers.
bool Opener::closes_in_parts(Box& box, const Choice& choice) {
    const double most = bounder_.outlook(choice);
    if (!(most > 0)) return false;
    const double lost[] = {tuning::spared * criterion_.width_cost(box, 0, choice),
                           tuning::spared * criterion_.width_cost(box, 1, choice)};
    const PartCounts parts = fewest_parts(lost, most);
    if (parts.of[0] * parts.of[1] < 2) return false;
    criterion_.lattice(box, parts, nodes_);
    if (nodes_.empty()) return false;
    corners_first(nodes_, parts);
    if (box.open.cell.empty()) return positive_at_nodes(box);
    const Undecided before = box.open;
    if (positive_at_nodes(box)) return true;
    box.open = before;
    bounder_.load(box);
    return false;
}

// Whether no subset of the box sums to less than 0 at any of the nodes. Cells are opened where that
// decides.
bool Opener::positive_at_nodes(Box& box) {
    double lambda = box.lambda;
    for (;;) {
        left_.clear();
        for (std::size_t from = 0; from < nodes_.size(); from += 4) {
            const std::size_t some = std::min<std::size_t>(4, nodes_.size() - from);
            const Bound bound = bounder_.bound(std::span(nodes_).subspan(from, some), lambda);
            lambda = bound.lambda[0];
            const double missing = -bound.least();
            if (missing <= -bound.error) continue;
            if (!(bounder_.coarseness() >= tuning::lattice_share * missing)) return false;
            for (int q = 0; q < bound.corners; ++q) {
                if (!(bound.value[q] >= bound.error)) left_.push_back(nodes_[from + q]);
            }
        }
        if (left_.empty()) return true;
        if (!bounder_.open_cells(box)) return false;
        bounder_.load(box);
        std::swap(nodes_, left_);
    }
}

}  // namespace quadsweep
