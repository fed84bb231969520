#include "branching.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "closing.hpp"

namespace quadsweep::regression {
namespace {

bool narrow(const Box& box, int searched) {
    for (int j = 0; j < searched; ++j) {
        if (box.half[j] > 1e-13 * (std::fabs(box.centre[j]) + 1e-3)) return false;
    }
    return true;
}

constexpr std::size_t first_cells = 64;     // a root box has so many, to begin with
constexpr std::size_t most_opened = 50000;  // cells of a box beyond which it is split all the same

void fill(Box& box, const Items& items, const Cells& cells, int k) {
    box.need = k;
    if (!cells.empty()) {
        box.open.cell = {0};
        while (box.open.cell.size() < first_cells && !cells.cell[box.open.cell[0]].leaf()) {
            std::vector<int> finer;
            for (int at : box.open.cell) {
                const int left = cells.cell[at].left;
                if (left < 0) {
                    finer.push_back(at);
                } else {
                    finer.insert(finer.end(), {left, left + 1});
                }
            }
            box.open.cell = std::move(finer);
        }
        return;
    }
    box.open.point.resize(items.size());
    std::iota(box.open.point.begin(), box.open.point.end(), 0);
    box.open.copies = items.copies;
}

// The parameter of a box of fits whose width costs most.
void split_fits(Box& box, Box& other, const Bounder& bounder) {
    const Form& form = bounder.form();
    int which = 0, at = 0;
    double most = -1;
    for (int w = 0; w < 2; ++w) {
        for (int j = 0; j < form.fitted; ++j) {
            const double share = w == 0 ? (1 + box.tau) / 2 : std::fabs(1 - box.tau) / 2;
            const double part = box.half[j] > 0 ? share * box.fit_half[w][j] / box.half[j] : 0;
            const double cost = part * part * bounder.width_cost(box, j);
            if (cost > most) {
                most = cost;
                which = w;
                at = j;
            }
        }
    }
    const double half = box.fit_half[which][at] / 2, centre = box.fit[which][at];
    for (auto [child, sign] : {std::pair{&other, -1.0}, std::pair{&box, 1.0}}) {
        child->fit[which][at] = centre + sign * half;
        child->fit_half[which][at] = half + 0x1p-52 * (std::fabs(centre) + half);
    }
}

// All theta with theta[frame] = 1 and no entry larger; those beside Z have the sign given.
std::unique_ptr<Box> root(const Form& form, int frame, double sign) {
    auto box = std::make_unique<Box>();
    box->frame = frame;
    for (int j = 0; j < form.searched; ++j) {
        const bool half_line = form.signed_at(j);
        box->centre[j] = half_line ? 0.5 * sign : 0;
        box->half[j] = half_line ? 0.5 : 1;
    }
    box->centre[frame] = 1;
    box->half[frame] = 0;
    return box;
}

}  // namespace

void take_tau(Box& box, const Form& form, double tau) {
    const int x = form.fitted;
    box.tau = tau;
    for (int j = 0; j < form.fitted; ++j) {
        const double first = (1 + tau) / 2, second = (1 - tau) / 2;
        box.centre[j] = box.fit[0][j] * first + box.fit[1][j] * second;
        box.half[j] =
            (box.fit_half[0][j] * first + box.fit_half[1][j] * std::fabs(second)) * (1 + 1e-12) +
            1e-15 * (std::fabs(box.fit[0][j]) + std::fabs(box.fit[1][j])) * (1 + tau);
    }
    box.centre[x] = tau;
    box.half[x] = 0;
}

// Coefficients b of a column w fitted on some subset have |b|^2 <= sum w^2 / (least eigenvalue of
// its Gram), and that is at least the least one of all items minus the largest traces that the
// items left out can have.
std::unique_ptr<Box> root_of_fits(const Form& form, const Items& items, int k) {
    Gram all;
    std::vector<double> traces;
    for (int i = 0; i < items.size(); ++i) {
        items.add(all, i, items.copies[i]);
        const Gram one = items.gram(i);
        double trace = 0;
        for (int j = 0; j < form.fitted; ++j) trace += one(j, j);
        traces.insert(traces.end(), items.copies[i], trace);
    }
    std::sort(traces.rbegin(), traces.rend());
    const auto left_out = std::max<std::ptrdiff_t>(std::ssize(traces) - k, 0);
    const double gone = std::accumulate(traces.begin(), traces.begin() + left_out, 0.0);
    const double least = least_eigenvalue(all, form.fitted) * (1 - 1e-9) - gone * (1 + 1e-9);
    if (!(least > 0)) return nullptr;
    const int x = form.fitted, y = x + 1;
    const double squares = 2 * (all(x, x) + all(y, y));  // of Y + x and of Y - x
    auto box = std::make_unique<Box>();
    box->of_fits = true;
    box->frame = y;
    box->centre[y] = 1;
    for (auto& half : box->fit_half) {
        std::fill(half, half + form.fitted, std::sqrt(squares / least) * (1 + 1e-9));
    }
    take_tau(*box, form, 1);
    return box;
}

Boxes roots(const Form& form, const Items& items, const Cells& cells, int k) {
    Boxes out;
    if (form.kind == Kind::below) {
        if (auto box = root_of_fits(form, items, k)) {
            fill(*box, items, cells, k);
            out.push_back(std::move(box));
            return out;
        }
    }
    for (int frame = 0; frame < form.searched; ++frame) {
        // theta is divided by its largest entry, so where that is negative the others' sign
        // changes.
        out.push_back(root(form, frame, 1));
        if (frame < form.fitted) out.push_back(root(form, frame, -1));
    }
    for (auto& box : out) fill(*box, items, cells, k);
    return out;
}

// A negative bound at the centre cannot be split away: it is the gap between the multipliers'
// optimum and whole items, and only deciding items closes it. Nor can rounding.
bool wants_items(const Box& box, const Bounder& bounder, double centre) {
    const Form& form = bounder.form();
    if (narrow(box, form.searched)) return true;
    const double least = bounder.least();
    if (box.open.cell.size() > most_opened) return false;
    const bool stuck =
        box.open.items() <= 4 || centre < 0.5 * least || least > -4 * bounder.error();
    if (!stuck) return false;
    const double width = bounder.width_cost(box, centre);
    // The less of it is the box's width, the more cells are there to be opened before rows can be
    // decided.
    return width < (box.open.cell.empty() ? 0.5 : 0.1) * std::fabs(least);
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
    if (box->of_fits) split_fits(*box, *other, bounder);
    for (auto [child, sign] : {std::pair{other.get(), -1.0}, std::pair{box.get(), 1.0}}) {
        if (child->of_fits) continue;
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
    const int item = box->open.point[at], copies = box->open.copies[at], z = (copies - 1) / 2;
    ++box->depth;
    auto more = std::make_unique<Box>(*box);
    box->open.set_copies(at, z);
    decide(more->decided, item, z + 1);
    Gram added;
    items.add(added, item, z + 1);
    more->kept.add(added, items.columns);
    more->kept_units += z + 1;
    more->need -= z + 1;
    more->open.set_copies(at, copies - z - 1);
    children.push_back(std::move(more));
    children.push_back(std::move(box));
}

}  // namespace quadsweep::regression
