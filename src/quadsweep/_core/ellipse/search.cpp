// The least covariance determinant of k points, with a proof: branch and bound over the parameters
// of box.hpp. "k or more" is the same question: of more than k points the farthest may go, and the
// determinant falls (docs/theory.md).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "bound.hpp"
#include "frontier.hpp"
#include "plane/certified.hpp"
#include "plane/closing.hpp"
#include "plane/concentrate.hpp"
#include "plane/selection.hpp"
#include "root.hpp"
#include "shared/exact_sums.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "shared/threads.hpp"

namespace quadsweep::ellipse {
namespace {

constexpr int starts = 60;              // random starts
constexpr double most_waiting = 5e8;    // bytes of boxes that wait before it goes depth first
constexpr double most_listed = 2e8;     // subsets that may all be listed, where boxes do not end
constexpr double listed_a_box = 4000;   // subsets in the time of one box
constexpr double serial_work = 1e5;     // points costed before more threads are asked for help
constexpr double moved = 0.5;           // a determinant that falls by this wants another placing
constexpr double far = 0x1p150;         // coordinates whose costs may leave the range of a double
constexpr int farthest = 850;           // exponent of a spread, so that residuals do not underflow
constexpr double log_split = 1.5;       // ratio of the ends beyond which l is halved as a logarithm
constexpr double narrowest = 1e-13;     // width of a box that splitting does not narrow any more
constexpr double explored_share = 0.1;  // of the points costed: for concentration from centres

class Search {
    class Worker;

  public:
    Search(const Problem& problem, const CertifiedOptions& options, Control& control)
        : problem_(problem),
          options_(options),
          control_(control),
          k_(problem.k),
          frontier_(std::min(problem.memory_limit / 2, most_waiting)) {
        const double all = subsets(problem.size(), k_);
        if (all <= most_listed && options.enumerate >= CertifiedOptions{}.enumerate) {
            most_boxes_ = std::min(1000.0, all / 10) + all / listed_a_box;
        }
    }

    CertifiedAnswer run() {
        if (options_.above) raise(*options_.above);
        begin();
        while (k_ < problem_.size() && !finished() && !control_.stopped()) {
            if (!place_on_reference()) {
                stuck_ = true;  // beyond the search's arithmetic
                break;
            }
            frontier_.clear();
            replace_ = false;
            stuck_upper_ = undefined;
            grow_roots();
            explore();
            if (!replace_ || control_.stopped() || decided_ || too_many_boxes_) break;
        }
        const bool open = too_many_boxes_ || stuck_ || stuck_upper_ > worst_allowed();
        if (open && !control_.stopped() && !finished()) list_all();
        return answer();
    }

  private:
    // A score is minus a determinant, in the units of problem_.points; unit_ is that of the placed
    // coordinates.
    double target() const { return target_.load(std::memory_order_relaxed); }
    void raise(double score) {
        double known = target_.load();
        while (score > known && !target_.compare_exchange_weak(known, score)) {
        }
    }
    double share() const { return std::max(0.8 * problem_.tol, 1e-15); }
    // What no subset of a closed box passes.
    double aim() const { return target() * (1 - share()); }
    // The bound of an optimal answer.
    double worst_allowed() const { return target() * (1 - std::max(problem_.tol, 1e-14)); }
    bool finished() const { return decided_ || exact_fit_ || !(target() < 0); }

    void offer(const std::vector<int>& subset) {
        if (static_cast<int>(subset.size()) != k_) return;
        const double score = accurate_score(problem_.points, subset, Objective::mcd);
        if (score == undefined) return;
        const Lock lock(best_mutex_);
        reference_.offer(score, subset);
        if (options_.above && !(score > *options_.above)) return;
        if (best_.offer(score, subset)) {
            raise(score);
            exact_fit_ = fits_exactly();
            if (placed_ && score > placed_score_ * moved) replace_ = true;
        }
        if (options_.above) decided_ = true;
    }
    ExactSums reference_sums() const {
        const Points& p = problem_.points;
        return exact_sums(p.given_x, p.given_y, reference_.subset,
                          k_ <= static_cast<int>(precise_points));
    }
    // All on a line, at the level of the rounding of the numbers given: any bound but 0 would mean
    // nothing.
    bool fits_exactly() const {
        const ExactSums s = reference_sums();
        return !(s.a.hi > 0 && s.b.hi > 0 && s.rest.hi > 0x1p-100 * s.b.hi);
    }

    // ---- incumbents -------------------------------------------------------------------------

    void begin() {
        std::vector<int> everything(problem_.size());
        std::iota(everything.begin(), everything.end(), 0);
        if (k_ == problem_.size()) offer(everything);
        for (const auto& start : options_.starts) offer(start);
        if (k_ == problem_.size() || halt()) return;
        const Halted halted = [&] {
            attend();
            return halt();
        };
        for (const auto& start : options_.starts) {
            if (start.empty()) continue;
            offer(concentrate_from(problem_.points, Objective::mcd, k_, start, halted).subset);
        }
        for (const auto* column : {&problem_.points.given_x, &problem_.points.given_y}) {
            const std::vector<int> window = neighbours(*column);
            offer(window);
            if (halt() || finished()) return;
            offer(concentrate_from(problem_.points, Objective::mcd, k_, window, halted).subset);
        }
        if (halt() || finished()) return;
        const int wanted = options_.starting_lines > 0 ? options_.starting_lines : starts;
        const Incumbent found = concentrate_search(problem_, wanted, control_);
        if (!found.subset.empty()) offer(found.subset);
    }

    // The k points next to each other in a column that lie closest.
    std::vector<int> neighbours(std::span<const double> column) const {
        std::vector<int> order(column.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int i, int j) {
            return column[i] != column[j] ? column[i] < column[j] : i < j;
        });
        std::size_t at = 0;
        double least = infinity;
        for (std::size_t i = 0; i + k_ <= order.size(); ++i) {
            const double width = column[order[i + k_ - 1]] - column[order[i]];
            if (width < least) {
                least = width;
                at = i;
            }
        }
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(at);
        std::vector<int> subset(first, first + k_);
        std::sort(subset.begin(), subset.end());
        return subset;
    }

    // Coordinates in which the best subset is about as wide as it is high, without a tilt, around
    // the origin. Changes every determinant by the same power of two.
    bool place_on_reference() {
        const ExactSums sums = reference_sums();
        const double k = k_;
        Placing at;
        at.slope = std::ldexp((sums.c / sums.a).value(), sums.ey - sums.ex);
        at.ex = std::ilogb(std::sqrt(sums.a.hi / k)) + sums.ex;
        at.ey = std::ilogb(std::sqrt(sums.rest.hi / k)) + sums.ey;
        if (!std::isfinite(at.slope) || std::max(std::abs(at.ex), std::abs(at.ey)) > farthest) {
            return false;
        }
        for (int i : reference_.subset) {
            at.x0 += problem_.points.given_x[i] / k;
            at.y0 += problem_.points.given_y[i] / k;
        }
        return place(at);
    }
    bool place(const Placing& at) {
        const Points& p = problem_.points;
        cells_ = make_cells(p, at, problem_.n_jobs);
        unit_ = std::ldexp(1.0, 2 * (at.ex - p.ex) + 2 * (at.ey - p.ey));
        placed_ = true;
        placed_score_ = reference_.score;
        if (!(std::max(cells_.reach_x, cells_.reach_y) < far) || !std::isnormal(unit_))
            return false;
        if (!std::isnormal(target() / unit_)) return false;
        ranges_ = ranges(cells_, k_);
        return ranges_.valid();
    }

    void grow_roots() {
        auto open = std::make_shared<Undecided>();
        open->point.resize(cells_.size());
        std::iota(open->point.begin(), open->point.end(), 0);
        open->copies = cells_.weight;
        for (const Rectangle& root : ranges_.roots()) {
            auto box = std::make_unique<Box>();
            static_cast<Rectangle&>(*box) = root;
            box->ranges = ranges_;
            box->ranged = true;
            box->open = open;
            box->need = k_;
            frontier_.push(std::move(box));
        }
    }

    // ---- the tree ---------------------------------------------------------------------------

    bool halt() const { return control_.stopped() || decided_ || too_many_boxes_ || replace_; }

    void attend() {
        control_.look([&] { return Progress{target(), live_bound(), boxes_, 0}; });
    }
    double live_bound() const {
        if (!placed_ || target() == undefined) return 0;
        double bound = std::max({frontier_.upper(), aim(), stuck_upper_});
        for (double upper : held_) bound = std::max(bound, upper);
        return std::min(bound, 0.0);
    }
    // The callback may take its time, or ask for what is locked: it runs outside.
    void attend_unlocked(Lock& lock) {
        lock.unlock();
        control_.look([&] {
            const Lock inside(frontier_mutex_);
            return Progress{target(), live_bound(), boxes_, 0};
        });
        lock.lock();
    }

    void take_in(Worker& worker, Boxes& children) {
        boxes_ += worker.boxes;
        worker.boxes = 0;
        stuck_upper_ = std::max(stuck_upper_, worker.stuck_upper);
        if (static_cast<double>(boxes_) > most_boxes_) too_many_boxes_ = true;
        if (frontier_.bytes() > problem_.memory_limit) control_.out_of_memory();
        for (auto& child : children) frontier_.push(std::move(child));
        children.clear();
    }

    void explore() {
        Worker alone(*this);
        Boxes children;
        while (alone.looked_at() < serial_work && !frontier_.empty() && !halt()) {
            alone.process(frontier_.pop(), children);
            take_in(alone, children);
            attend();
        }
        looked_at_ += alone.looked_at();
        if (frontier_.empty() || halt()) return;
        held_.assign(problem_.n_jobs, undefined);
        parallel_for(problem_.n_jobs, problem_.n_jobs, [&](int id, std::int64_t) {
            work(id);
            return true;
        });
    }

    void work(int id) {
        Worker worker(*this);
        Boxes children;
        Lock lock(frontier_mutex_);
        for (;;) {
            while (frontier_.empty() && active_ > 0 && !halt()) {
                changed_.wait_for(lock, std::chrono::milliseconds(10));
                if (id == 0) attend_unlocked(lock);
            }
            if (frontier_.empty() || halt()) break;
            auto box = frontier_.pop();
            held_[id] = box->upper;
            ++active_;
            lock.unlock();
            // If it fails the others stop, and the exception goes to the caller.
            or_else([&] { worker.process(std::move(box), children); },
                    [&] { control_.interrupt(); });
            lock.lock();
            --active_;
            held_[id] = undefined;
            take_in(worker, children);
            changed_.notify_all();
            if (id == 0) attend_unlocked(lock);
        }
        looked_at_ += worker.looked_at();
        changed_.notify_all();
    }

    // One thread's tools for looking at boxes.
    class Worker {
      public:
        explicit Worker(Search& search) : s_(search), bounder_(search.cells_) {}

        std::uint64_t boxes = 0;
        double stuck_upper = undefined;  // of boxes that rounding keeps open
        double looked_at() const { return bounder_.looked_at; }

        void process(std::unique_ptr<Box> box, Boxes& children) {
            ++boxes;
            if (s_.finished() || box->upper <= s_.aim()) return;
            const double t = -s_.aim() / s_.unit_;
            bounder_.aim(t);
            if (!bounder_.load(*box)) return;
            const Choice choice = bounder_.plain(*box);
            propose(*box, choice, t);
            if (bounder_.close(choice)) return;
            // What is missing of a mean cost, det / t times at least lo / hi is missing of det / t.
            const double missing = bounder_.missing() / s_.k_ * (box->hi[L] / box->lo[L]);
            box->upper = std::min(box->upper, -t * std::max(0.0, 1 - missing) * s_.unit_);
            box->priority = -missing;
            const bool hidden = hidden_by_rounding(*box);
            if (!bounder_.fix(*box)) return;
            if (list(*box, s_.options_.enumerate * (hidden ? 1000 : 1), t)) return;
            if (hidden) {
                stuck_upper = std::max(stuck_upper, box->upper);
                return;
            }
            split(std::move(box), children);
        }

      private:
        // Where neither the bound nor what the box's width costs it is clear of the rounding.
        bool hidden_by_rounding(const Box& box) const {
            double width = 0;
            for (Parameter p : {L, S, A, Y}) width += bounder_.width_cost(box, p);
            const double error = bounder_.error();
            return !(bounder_.missing() > 5 * error) && !(s_.k_ * width > 16 * error);
        }

        void propose(const Box& box, const Choice& choice, double t) {
            if (!(std::fabs(choice.weight - s_.k_) < 0.5 * s_.k_)) return;
            const Centred m = centred(choice.moments, choice.weight);
            const double det = (m.a * m.b - m.c * m.c) / (choice.weight * choice.weight);
            const bool promises = det < t;
            if (!promises) {
                if (!(det < 2 * t) || box.depth % 4 != 0) return;
                if (explored_ > explored_share * bounder_.looked_at) return;
            }
            Selection from;
            const double f = s_.k_ / choice.weight;
            const Moments& c = choice.moments;
            from.moments = {f * c.x, f * c.y, f * c.xx, f * c.xy, f * c.yy};
            double score = undefined;
            const Selection found =
                concentrate(s_.cells_, from, Objective::mcd, s_.k_, score, s_.target() / s_.unit_);
            explored_ += found.looked_at;
            if (found.weight == s_.k_ && score * s_.unit_ > s_.aim()) {
                s_.offer(indices(s_.cells_, found));
            }
        }

        // All ways to fill up the subset, if they are few.
        bool list(const Box& box, std::int64_t most, double t) {
            if (ways(*box.open, box.need, false, most) > most) return false;
            const Slack slack{(64.0 + std::max(box.need, 64)) * 0x1p-52, least_square, least_square,
                              least_square};
            lister_.run(box, s_.cells_, [&](const Moments& m, const Picks& picks) {
                const double k = s_.k_;
                const double best = optimistic(Objective::mcd, centred_range(m, k, slack), k);
                if (!(best < -t)) s_.offer(s_.collect(box, picks));
            });
            return true;
        }

        void split(std::unique_ptr<Box> box, Boxes& children) {
            Parameter widest = L;
            double most = -1;
            for (Parameter p : {L, S, A, Y}) {
                const double cost = bounder_.width_cost(*box, p);
                if (cost > most && divisible(*box, p)) {
                    most = cost;
                    widest = p;
                }
            }
            if (most < 0) {
                stuck_upper = std::max(stuck_upper, box->upper);
                return;
            }
            ++box->depth;
            const double middle = centre(*box, widest);
            auto other = std::make_unique<Box>(*box);
            box->hi[widest] = middle;
            other->lo[widest] = middle;
            children.push_back(std::move(box));
            children.push_back(std::move(other));
        }
        static double centre(const Box& box, Parameter p) {
            if (p == L && box.hi[L] > log_split * box.lo[L]) {
                return std::sqrt(box.lo[L]) * std::sqrt(box.hi[L]);
            }
            return box.lo[p] + box.half(p);
        }
        static bool divisible(const Box& box, Parameter p) {
            return box.hi[p] - box.lo[p] > narrowest * box.most(p) && centre(box, p) > box.lo[p] &&
                   centre(box, p) < box.hi[p];
        }

        // Every way to keep box.need more of the undecided copies.
        class Filling {
          public:
            template <class Visit>
            void run(const Box& box, const Cells& cells, Visit&& visit) {
                left_.assign(box.open->point.size() + 1, 0);
                for (std::size_t i = box.open->point.size(); i-- > 0;) {
                    left_[i] = left_[i + 1] + box.open->copies[i];
                }
                picks_.clear();
                descend(box, cells, 0, box.need, box.kept.moments(), visit);
            }

          private:
            template <class Visit>
            void descend(const Box& box, const Cells& cells, std::size_t i, int need,
                         const Moments& m, Visit& visit) {
                if (need == 0) return visit(m, picks_);
                const int p = box.open->point[i];
                const int most = std::min(box.open->copies[i], need);
                Moments with = m;
                for (int z = 0; z <= most; ++z) {
                    if (z > 0) with.add(cells.x[p], cells.y[p]);
                    if (need - z > left_[i + 1]) continue;
                    if (z > 0) picks_.push_back({p, z});
                    descend(box, cells, i + 1, need - z, with, visit);
                    if (z > 0) picks_.pop_back();
                }
            }

            std::vector<int> left_;
            Picks picks_;
        };

        Search& s_;
        Bounder bounder_;
        Filling lister_;
        double explored_ = 0;
    };

    // The subset of a box's decided copies and some picks among the others.
    std::vector<int> collect(const Box& box, const Picks& picks) const {
        Selection all;
        std::vector<int> copies(cells_.size(), 0);
        for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
            for (const auto [point, count] : d->points) copies[point] += count;
        }
        for (const auto [point, count] : picks) copies[point] += count;
        for (int p = 0; p < cells_.size(); ++p) {
            if (copies[p] > 0) all.points.push_back({p, copies[p]});
        }
        return indices(cells_, all);
    }

    // ---- the end ----------------------------------------------------------------------------

    // C(n, k), or infinity if it is more than can be listed.
    static double subsets(int n, int k) {
        double count = 1;
        for (int i = 0; i < std::min(k, n - k) && count <= most_listed; ++i) {
            count = count * (n - i) / (i + 1);
        }
        return count <= most_listed ? count : infinity;
    }

    // The boxes have cost as much as listing all subsets would, or do not end.
    void list_all() {
        if (subsets(problem_.size(), k_) == infinity) return;
        const Answer best = exhaustive(problem_, control_);
        if (!best.inliers.empty()) offer(best.inliers);
        if (control_.stopped()) return;
        frontier_.clear();
        stuck_upper_ = undefined;
        stuck_ = false;
        listed_ = true;
    }

    CertifiedAnswer answer() {
        CertifiedAnswer a;
        a.inliers = best_.subset;
        a.score = best_.score;
        a.nodes = boxes_;
        a.looked_at = looked_at_;
        const bool found = decided_;  // a subset above the threshold, not necessarily the best
        const bool closed = placed_ && !stuck_ && frontier_.empty() && !replace_;
        bool complete = !found && (finished() || listed_ || k_ == problem_.size() ||
                                   (closed && !control_.stopped() && stuck_upper_ == undefined));
        a.bound = 0;
        if (complete) {
            a.bound = proved();
        } else if (!found && placed_ && !stuck_ && !replace_) {
            a.bound = std::min(std::max({frontier_.upper(), aim(), stuck_upper_}), 0.0);
            complete = closed && !control_.stopped() && a.bound <= worst_allowed();
        }
        a.decided = found || complete;
        a.status = complete ? Status::optimal : control_.status(Status::heuristic);
        return a;
    }
    // Rounded upwards, with what scoring may have lost.
    double proved() const {
        if (exact_fit_ || !(target() < 0)) return 0;
        if (k_ == problem_.size() || listed_) return options_.above ? target() : best_.score;
        const double ulps = best_.subset.size() > precise_points ? 64 : 4;
        return std::min(aim() * (1 - ulps * 0x1p-52), 0.0);
    }

    const Problem& problem_;
    const CertifiedOptions& options_;
    Control& control_;
    int k_;
    double unit_ = 1;
    bool placed_ = false, listed_ = false, stuck_ = false;
    double placed_score_ = undefined;
    Cells cells_;
    Ranges ranges_{};
    std::atomic<bool> exact_fit_{false}, decided_{false}, too_many_boxes_{false}, replace_{false};
    double most_boxes_ = infinity;
    std::atomic<double> target_{undefined};
    Incumbent best_;
    Incumbent
        reference_;  // the same, whether above the threshold or not: the search is placed on it
    Mutex best_mutex_, frontier_mutex_;
    Condition changed_;
    Frontier frontier_;
    std::vector<double> held_;  // upper ends of the boxes that threads are looking at
    double stuck_upper_ = undefined;
    int active_ = 0;
    std::uint64_t boxes_ = 0;
    double looked_at_ = 0;
};

}  // namespace
}  // namespace quadsweep::ellipse

namespace quadsweep {

CertifiedAnswer least_determinant(const Problem& problem, const CertifiedOptions& options,
                                  Control& control) {
    return ellipse::Search(problem, options, control).run();
}

}  // namespace quadsweep
