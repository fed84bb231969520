#include "branching.hpp"

#include <cmath>
#include <utility>

#include "tuning.hpp"

namespace quadsweep {
namespace {

Place mean_of(const Undecided& open, const Cells& cells) {
    double copies = 0, x = 0, y = 0;
    for (std::size_t i = 0; i < open.point.size(); ++i) {
        const int p = open.point[i];
        copies += open.copies[i];
        x += open.copies[i] * cells.x[p];
        y += open.copies[i] * cells.y[p];
    }
    return {x / copies, y / copies};
}

struct Strongest {
    std::size_t at = 0;
    bool outweighs = false;  // the others, by squares
};

Strongest strongest(const Box& box, const Criterion& criterion, const Cells& cells) {
    const Place mean = mean_of(box.open, cells);
    Strongest found;
    double most = -1, all = 0;
    for (std::size_t i = 0; i < box.open.point.size(); ++i) {
        const int p = box.open.point[i];
        const double one = criterion.pull(box, {cells.x[p], cells.y[p]}, mean);
        const double pull = box.open.copies[i] * one;
        all += pull * pull;
        if (pull > most) {
            most = pull;
            found.at = i;
        }
    }
    found.outweighs = most * most >= tuning::outweighing * (all - most * most);
    return found;
}

// A negative bound at the centre cannot be split away: it is the gap between the multipliers'
// optimum and whole points, and only deciding points closes it. Nor can rounding.
bool stuck(const Box& box, const Criterion& criterion, const Cells& cells, double centre,
           const Bound& bound) {
    const double least = bound.least();
    return box.open.items() <= tuning::few_items || centre < tuning::stuck_share * least ||
           least > -4 * bound.error ||
           (centre < 0 && box.open.cell.empty() && strongest(box, criterion, cells).outweighs);
}

// And little of it is the box's width: the less, the more cells there are to be opened before
// points can be decided.
bool fine(const Box& box, const Criterion& criterion, const Choice& worst, const Bound& bound) {
    if (box.open.cell.size() > tuning::most_opened) return false;
    const double width = criterion.width_cost(box, 0, worst) + criterion.width_cost(box, 1, worst);
    const double share = box.open.cell.empty() ? tuning::width_share : tuning::width_share_of_cells;
    return width < share * std::fabs(bound.least());
}

bool narrow(const Box& box) {
    for (int i = 0; i < 2; ++i) {
        if (box.half[i] > 1e-13 * (std::fabs(box.centre[i]) + 1e-3)) return false;
    }
    return true;
}

}  // namespace

bool wants_points(const Box& box, const Criterion& criterion, const Cells& cells, double centre,
                  const Choice& worst, const Bound& bound) {
    return narrow(box) ||
           (fine(box, criterion, worst, bound) && stuck(box, criterion, cells, centre, bound));
}

void split(std::unique_ptr<Box> box, const Criterion& criterion, const Choice& worst,
           Boxes& children) {
    const int i =
        criterion.width_cost(*box, 0, worst) > criterion.width_cost(*box, 1, worst) ? 0 : 1;
    const double half = box->half[i] / 2, centre = box->centre[i];
    auto other = std::make_unique<Box>(*box);
    for (auto [child, sign] : {std::pair{other.get(), -1.0}, std::pair{box.get(), 1.0}}) {
        child->centre[i] = centre + sign * half;
        // An ulp more, so that rounding of the centres leaves no gap.
        child->half[i] = half + 0x1p-52 * (std::fabs(centre) + half);
        criterion.inherit(*child, i, sign * half);
    }
    children.push_back(std::move(other));
    children.push_back(std::move(box));
}

void branch_on_copies(std::unique_ptr<Box> box, const Criterion& criterion, const Cells& cells,
                      Boxes& children) {
    const std::size_t at = strongest(*box, criterion, cells).at;
    const int p = box->open.point[at], copies = box->open.copies[at], z = (copies - 1) / 2;
    auto more = std::make_unique<Box>(*box);
    box->open.set_copies(at, z);
    decide(more->decided, p, z + 1);
    more->kept.add(cells.x[p], cells.y[p], z + 1);
    more->need -= z + 1;
    more->open.set_copies(at, copies - z - 1);
    children.push_back(std::move(more));
    children.push_back(std::move(box));
}

}  // namespace quadsweep
