#include "branching.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quadsweep::several {
namespace {

bool narrow(const Box& box, int searched) {
    for (int j = 0; j < searched; ++j) {
        if (box.half[j] > 1e-13 * (std::fabs(box.centre[j]) + 1e-3)) return false;
    }
    return true;
}

void set_copies(Box& box, std::size_t at, int copies) {
    if (copies > 0) {
        box.copies[at] = copies;
    } else {
        box.open.erase(box.open.begin() + static_cast<std::ptrdiff_t>(at));
        box.copies.erase(box.copies.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

}  // namespace

Boxes roots(const Form& form, const Items& items, int k) {
    Boxes out;
    for (int frame = 0; frame < form.searched; ++frame) {
        auto box = std::make_unique<Box>();
        box->frame = frame;
        for (int j = 0; j < form.searched; ++j) {
            const bool half_line = form.signed_at(j);
            box->centre[j] = half_line ? 0.5 : 0;
            box->half[j] = half_line ? 0.5 : 1;
        }
        box->centre[frame] = 1;
        box->half[frame] = 0;
        box->open.resize(items.size());
        std::iota(box->open.begin(), box->open.end(), 0);
        box->copies = items.copies;
        box->need = k;
        out.push_back(std::move(box));
    }
    return out;
}

// A negative bound at the centre cannot be split away: it is the gap between the multipliers'
// optimum and whole items, and only deciding items closes it. Nor can rounding.
bool wants_items(const Box& box, const Bounder& bounder, double centre) {
    const Form& form = bounder.form();
    if (narrow(box, form.searched)) return true;
    const double least = bounder.least();
    const bool stuck = box.open.size() <= 4 || centre < 0.5 * least || least > -4 * bounder.error();
    if (!stuck) return false;
    double width = 0;
    for (int j = 0; j < form.searched; ++j) width += bounder.width_cost(box, j);
    return width < 0.5 * std::fabs(least);
}

void split(std::unique_ptr<Box> box, const Bounder& bounder, Boxes& children) {
    const int searched = bounder.form().searched;
    int at = box->frame == 0 ? 1 : 0;
    for (int j = 0; j < searched; ++j) {
        if (j != box->frame && bounder.width_cost(*box, j) > bounder.width_cost(*box, at)) at = j;
    }
    const double half = box->half[at] / 2, centre = box->centre[at];
    ++box->depth;
    auto other = std::make_unique<Box>(*box);
    for (auto [child, sign] : {std::pair{other.get(), -1.0}, std::pair{box.get(), 1.0}}) {
        child->centre[at] = centre + sign * half;
        // An ulp more, so that rounding of the centres leaves no gap.
        child->half[at] = half + 0x1p-52 * (std::fabs(centre) + half);
    }
    children.push_back(std::move(other));
    children.push_back(std::move(box));
}

void branch_on_copies(std::unique_ptr<Box> box, Bounder& bounder, const Items& items,
                      Boxes& children) {
    const auto& pull = bounder.pull(*box);
    const auto at =
        static_cast<std::size_t>(std::max_element(pull.begin(), pull.end()) - pull.begin());
    const int item = box->open[at], copies = box->copies[at], z = (copies - 1) / 2;
    ++box->depth;
    auto more = std::make_unique<Box>(*box);
    set_copies(*box, at, z);
    auto decided = std::make_shared<Decided>();
    decided->items.push_back({item, z + 1});
    decided->before = more->decided;
    more->decided = std::move(decided);
    Gram added;
    items.add(added, item, z + 1);
    more->kept.add(added, items.columns);
    more->kept_units += z + 1;
    more->need -= z + 1;
    set_copies(*more, at, copies - z - 1);
    children.push_back(std::move(more));
    children.push_back(std::move(box));
}

}  // namespace quadsweep::several
