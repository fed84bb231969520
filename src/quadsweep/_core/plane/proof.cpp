#include "proof.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "bound.hpp"
#include "branching.hpp"
#include "closing.hpp"
#include "criterion.hpp"
#include "ranges.hpp"

namespace quadsweep {
namespace {

// Numbers of few digits keep the checker's integers short.
constexpr int mean_digits = 10, end_digits = 12;

double coarse(double v, int digits, double (*round)(double)) {
    if (v == 0) return 0;
    const int e = digits - std::ilogb(v);
    return std::ldexp(round(std::ldexp(v, e)), -e);
}

class Writer {
  public:
    Writer(const Problem& problem, const ProofOptions& options, Control& control)
        : problem_(problem), options_(options), control_(control) {
        const bool rescale =
            problem.objective == Objective::r2 || problem.objective == Objective::r;
        place(rescale);
        ranges_ = ranges(cells_, problem.points, at_, problem.k, 1);
        bounder_ = std::make_unique<Bounder>(cells_, options.k_or_more);
        bounder_->rounding_counts = options.rounding;
    }

    ProofTree run() {
        criterion_ = make_criterion(problem_.objective, ranges_, good_, options_.aim, 0);
        tree_.constant = criterion_->constant();
        for (Box& root : criterion_->roots()) {
            auto box = std::make_unique<Box>(std::move(root));
            round_ends(*box);
            const double* c = box->centre;
            const double* h = box->half;
            tree_.roots.push_back({box->frame, c[0] - h[0], c[0] + h[0], c[1] - h[1], c[1] + h[1],
                                   tree_.nodes.size()});
            box->open = everything();
            box->need = problem_.k;
            descend(std::move(box));
        }
        tree_.status = control_.status(given_up() ? Status::heuristic : Status::optimal);
        return std::move(tree_);
    }

  private:
    void place(bool rescale) {
        const Points& p = problem_.points;
        Moments s;
        for (int i : options_.good) s.add(p.x[i], p.y[i]);
        const auto k = static_cast<double>(options_.good.size());
        const Centred m = centred(s, k);
        at_ = {0, 0, p.ex, p.ey};
        at_.x0 = near(p.mx + std::ldexp(s.x / k, p.ex), std::ldexp(std::sqrt(m.a / k), p.ex));
        at_.y0 = near(p.my + std::ldexp(s.y / k, p.ey), std::ldexp(std::sqrt(m.b / k), p.ey));
        if (rescale && m.a > 0 && m.b > 0) {
            at_.ex += std::ilogb(std::sqrt(m.a / k));
            at_.ey += std::ilogb(std::sqrt(m.b / k));
        }
        if (problem_.objective == Objective::lts && m.a > 0) {
            at_.slope = near(std::ldexp(m.c / m.a, p.ey - p.ex),
                             std::ldexp(std::fabs(m.c / m.a), p.ey - p.ex));
        }
        cells_ = make_cells(p, at_, 1);
        Moments placed;
        for (int i : options_.good) {
            double x = p.given_x[i], y = p.given_y[i];
            at_(x, y);
            placed.add(x, y);
        }
        // The proof of r < t takes the same spread of both columns: they are placed so.
        good_ = problem_.objective == Objective::r ? Centred{1, 1, 0} : centred(placed, k);
        if (problem_.objective == Objective::cov) good_ = {power_of_16(good_.a / good_.b), 1, 0};
        if (problem_.objective == Objective::dv) {
            const double sum = good_.a + good_.b;
            const double f = power_of_16((sum - 2 * good_.c) / (sum + 2 * good_.c));
            good_ = {(1 + f) / 4, (1 + f) / 4, (1 - f) / 4};
        }
        tree_.shift[0] = at_.x0;
        tree_.shift[1] = at_.y0;
        tree_.scale[0] = -at_.ex;
        tree_.scale[1] = -at_.ey;
        tree_.tilt = at_.slope;
    }
    // Near a ratio of spreads, whose fourth root balances cov and dv: the root is a power of two.
    static double power_of_16(double ratio) {
        if (!(ratio > 0) || !std::isfinite(ratio)) return 1;
        return std::ldexp(
            1.0, std::clamp(4 * static_cast<int>(std::lround(std::log2(ratio) / 4)), -24, 24));
    }
    // To a thousandth of the spread.
    static double near(double value, double spread) {
        if (!(spread > 0) || !std::isfinite(spread)) return value;
        const int e = mean_digits - std::ilogb(spread);
        const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, e)), -e);
        return std::isfinite(rounded) ? rounded : value;
    }

    // Ends of few digits, outwards; intercepts make room for the slopes this adds.
    void round_ends(Box& box) const {
        const Ranges& r = ranges_;
        const double far =
            std::max({std::fabs(r.x_lo), std::fabs(r.x_hi), std::fabs(r.y_lo), std::fabs(r.y_hi)});
        const double before = box.half[0];
        if (before > 0) round_ends(box, 0);
        box.half[1] += 2 * (box.half[0] - before) * far;
        round_ends(box, 1);
    }
    static void round_ends(Box& box, int i) {
        const auto down = [](double v) { return std::floor(v); };
        const auto up = [](double v) { return std::ceil(v); };
        const double lo = coarse(box.centre[i] - box.half[i], end_digits, down);
        const double hi = coarse(box.centre[i] + box.half[i], end_digits, up);
        box.centre[i] = lo + (hi - lo) / 2;
        box.half[i] = (hi - lo) / 2;
    }

    Undecided everything() const {
        Undecided open;
        open.point.resize(cells_.size());
        std::iota(open.point.begin(), open.point.end(), 0);
        open.copies.assign(cells_.weight.begin(), cells_.weight.end());
        const bool correlation =
            problem_.objective == Objective::r2 || problem_.objective == Objective::r;
        if (correlation && !options_.k_or_more) {
            for (int& c : open.copies) c = std::min(c, problem_.k - 1);
        }
        return open;
    }

    void descend(std::unique_ptr<Box> root) {
        Boxes pending;
        pending.push_back(std::move(root));
        while (!pending.empty() && tree_.better.empty()) {
            if (control_.attend() || given_up()) return;
            auto box = std::move(pending.back());
            pending.pop_back();
            Boxes children;
            visit(std::move(box), children);
            for (std::size_t i = children.size(); i-- > 0;) {
                pending.push_back(std::move(children[i]));
            }
        }
    }

    bool given_up() const {
        return options_.most_nodes > 0 && tree_.nodes.size() > options_.most_nodes;
    }

    void visit(std::unique_ptr<Box> box, Boxes& children) {
        bounder_->load(*box);
        Choice choice;
        const Corners corners = criterion_->corners(*box, *bounder_, choice);
        const Bound bound = bounder_->bound(corners.nodes(), box->lambda);
        tree_.corners = bound.corners;
        if (bound.least() >= bound.error) {
            note({ProofTree::bound, true}, *box, bound);
            return;
        }
        const Choice worst = bounder_->chosen_at_worst(bound);
        const Box before = *box;
        const bool possible = bounder_->fix(*box, bound);
        const bool hinted = !possible || box->need != before.need ||
                            box->open.copies.size() != before.open.copies.size() ||
                            box->open.copies != before.open.copies;
        const bool in_points = wants_points(*box, *criterion_, cells_, choice.value, worst, bound);
        if (!possible || list(*box, options_.enumeration_limit * (in_points ? 20 : 1))) {
            note({ProofTree::list, hinted}, before, bound);
            return;
        }
        if (in_points) {
            branch_on_copies(std::move(box), *criterion_, cells_, children);
            const auto [point, kept] = children[0]->decided->points.back();
            note({ProofTree::copies, hinted, cells_.members(point)[0], kept - 1}, before, bound);
        } else {
            split(std::move(box), *criterion_, worst, children);
            const int parameter = children[0]->centre[0] != before.centre[0] ? 0 : 1;
            // The checker halves exactly. What the search adds against gaps is much where the root
            // was wide, and the thresholds noted belong to the corners.
            for (auto& child : children) child->half[parameter] = before.half[parameter] / 2;
            note({ProofTree::split, hinted, parameter}, before, bound);
        }
    }

    void note(const ProofTree::Node& node, const Box& box, const Bound& bound) {
        tree_.nodes.push_back(node);
        if (!node.hinted) return;
        const FreeMean free = criterion_->free_mean(box);
        for (double m : {free.low, free.high, free.middle, free.tau}) tree_.numbers.push_back(m);
        for (int q = 0; q < 4; ++q) {
            tree_.numbers.push_back(q < bound.corners ? bound.lambda[q] : 0);
        }
    }

    // Lists what is left, if it is little. The checker scores it again, exactly.
    bool list(const Box& box, std::int64_t most) {
        if (ways(box.open, box.need, options_.k_or_more, most) > most) return false;
        visit_subsets(box);
        return true;
    }
    void visit_subsets(const Box& box) {
        const Slack slack{
            (32.0 + cells_.roundings + static_cast<double>(std::max<std::int64_t>(box.need, 64))) *
            0x1p-52};
        const auto look = [&](const Moments& m, double kept, const Picks& picks) {
            const CentredRange range = centred_range(m, kept, slack);
            if (!(optimistic(problem_.objective, range, kept) > options_.claim)) return;
            std::vector<int> subset = collect(cells_, box, picks);
            if (accurate_score(problem_.points, subset, problem_.objective) > options_.claim) {
                tree_.better = std::move(subset);
            }
        };
        list_ways(cells_, box.open, box.need, options_.k_or_more, box.kept, look);
    }

    const Problem& problem_;
    const ProofOptions& options_;
    Control& control_;
    Placing at_;
    Cells cells_;
    Ranges ranges_{};
    Centred good_;
    std::unique_ptr<Criterion> criterion_;
    std::unique_ptr<Bounder> bounder_;
    ProofTree tree_;
};

}  // namespace

ProofTree prove(const Problem& problem, const ProofOptions& options, Control& control) {
    return Writer(problem, options, control).run();
}

}  // namespace quadsweep
