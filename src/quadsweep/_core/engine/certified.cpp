#include "certified.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include "bound.hpp"
#include "branching.hpp"
#include "closing.hpp"
#include "criterion.hpp"
#include "frontier.hpp"
#include "incumbents.hpp"
#include "planar/wide_listing.hpp"
#include "selection.hpp"
#include "shared/exact_sums.hpp"
#include "shared/hot_loops.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"

namespace quadsweep {
namespace {

constexpr int sample_points = 1000;  // for the starts, where there are more
constexpr int sample_kept = 200;     // points of the sample that a start keeps, at least
constexpr int most_sampled = 50000;
constexpr std::size_t finalists = 6;      // starts of different kinds that are carried on over all
constexpr int whole_points = 512;         // up to here a root box holds points, beyond it cells
constexpr double most_waiting = 0x1p28;   // bytes of boxes before the search goes depth first
constexpr int serial_work = 100000;       // points in boxes before more threads are asked for help
constexpr int serial_points = 500;        // up to here the starts are not worth a thread
constexpr double most_listed = 2e9;       // subsets that may all be listed, where boxes do not end
constexpr double listed_a_box = 1000;     // in the time of one box
constexpr double closing_share = 0.8;     // from here on opening them may well close the box
constexpr double explored_share = 0.02;   // of the cells and points costed: for proposals
constexpr double explored_first = 20000;  // before that
constexpr double coarse_share = 0.25;     // of the bound: what unopened cells may take away from it

constexpr double least_share = 8e-13;  // of what cov and dv are made of: their finest tolerance
constexpr double near_fit = 1e-3;      // of b: residuals below this need columns of their own
constexpr double largest_part = 0.8;   // of the points: a part solved by itself
constexpr int deepest = 6;             // parts of parts

// Shift and scale (a power of two) that put the best subset at the origin with unit spread, given
// its moments in standardised coordinates.
Placing placed_at(const Points& points, const Moments& s, double k, bool rescale) {
    constexpr int farthest = 250;  // exponent of a placed coordinate, so that squares are finite
    Placing at = placing(points);
    at.x0 = points.mx + std::ldexp(s.x / k, points.ex);
    at.y0 = points.my + std::ldexp(s.y / k, points.ey);
    const Centred m = centred(s, k);
    if (rescale && m.a > 0 && m.b > 0) {
        at.ex += std::max(std::ilogb(std::sqrt(m.a / k)), -(farthest - 200));
        at.ey += std::max(std::ilogb(std::sqrt(m.b / k)), -(farthest - 200));
    }
    return at;
}

bool is_correlation(Objective o) { return o == Objective::r2 || o == Objective::r; }

class Search {
    class Worker;

  public:
    Search(const Problem& problem, const CertifiedOptions& options, Control& control)
        : problem_(problem),
          options_(options),
          control_(control),
          k_(problem.k),
          frontier_(std::min(problem.memory_limit / 2, most_waiting)) {
        limit_ = trivial_bound(problem);
        if (options.enumerate >= CertifiedOptions{}.enumerate) {
            double all = 0;
            for (int size = k_; size <= largest() && all <= most_listed; ++size) {
                all += subsets(problem.size(), size);
            }
            if (all <= most_listed) most_boxes_ = std::min(1000.0, all / 10) + all / listed_a_box;
        }
    }

    CertifiedAnswer run() {
        if (options_.above) raise(*options_.above);
        set_tolerance();
        begin();
        set_tolerance();
        if (target() == undefined) return answer();  // no subset has a value
        if (is_correlation(problem_.objective) && target() < least_score()) {
            offer_any();  // any subset that has a value is above that
            return answer();
        }
        while (k_ < problem_.size() && !finished()) {
            place_on_best();
            criterion_ = make_criterion(problem_.objective, ranges_, good_sums(), target() / unit_,
                                        tol_ / unit_);
            if (!criterion_->valid()) {
                criterion_valid_ = false;  // nothing is proved
                break;
            }
            grow_roots();
            explore();
            if (control_.stopped() || decided_ || too_many_boxes_) break;
            // A better value may ask for a finer proof.
            if (criterion_valid_ && tol_ <= tolerance()) break;
            set_tolerance();
        }
        if (too_many_boxes_ && !control_.stopped()) list_all();
        return answer();
    }

  private:
    // What `tol` means (docs/certificate.md): absolute for r and r2, else relative to the value;
    // cov and dv are differences and may be zero, so no finer than a share of what they are made
    // of. A little less than asked, so that the gap as reported keeps to it however it is rounded.
    double tolerance() const {
        const double share = std::max(0.8 * problem_.tol, 1e-15);
        if (is_correlation(problem_.objective)) return share;
        if (target() == undefined) return 0;
        const double relative = share * std::fabs(target());
        if (problem_.objective == Objective::tv || problem_.objective == Objective::lts) {
            return relative;
        }
        return std::max(relative, least_share * made_of());
    }
    // sqrt(ab)/k or (a + b)/k of the best subset; 1 is the scale of the data.
    double made_of() const {
        if (best_.subset.empty() || cells_.cell.empty()) return 1;
        const Centred m = good_sums();
        const double k = static_cast<double>(best_.subset.size());
        return problem_.objective == Objective::cov ? std::sqrt(std::fmax(m.a * m.b, 0)) / k
                                                    : (m.a + m.b) / k;
    }
    // Where the value may still fall, room for it to do so without a second search.
    void set_tolerance() {
        tol_ = sense(problem_.objective) < 0 ? 0.7 * tolerance() : tolerance();
        // No difference below this is worth collecting a subset for.
        margin_ = tol_ / 100;
        exact_fit_ =
            problem_.objective == Objective::lts && !best_.subset.empty() && fits_exactly();
    }
    ExactSums best_sums() const {
        const Points& p = problem_.points;
        return exact_sums(p.given_x, p.given_y, best_.subset,
                          best_.subset.size() <= precise_points);
    }
    // Residuals at the level of the rounding of y itself: any bound but 0 would mean nothing.
    bool fits_exactly() const {
        const ExactSums sums = best_sums();
        return sums.rest.hi <= 0x1p-100 * sums.b.hi;
    }

    // Near-exact fits need residuals whose rounding is their own: y less the best line. And a
    // cluster far from where the points were placed needs to be near the origin.
    void place_on_best() {
        if (best_.subset.empty()) return;
        Placing at = at_;
        const double k = static_cast<double>(best_.subset.size());
        if (problem_.objective == Objective::lts) {
            const ExactSums sums = best_sums();
            if (!(sums.rest.hi > 0 && sums.a.hi > 0 && sums.rest.hi < near_fit * sums.b.hi)) return;
            at.slope = std::ldexp((sums.c / sums.a).value(), sums.ey - sums.ex);
            at.ex = std::max(std::ilogb(std::sqrt(sums.a.hi / k)) + sums.ex, at.ex - 50);
            at.ey = std::ilogb(std::sqrt(sums.rest.hi / k)) + sums.ey;
            if (!(std::fabs(at.slope) < 0x1p300) || std::abs(at.ey) > 400) return;
        } else if (problem_.objective == Objective::tv) {
            const Moments m = moments_of(best_.subset);
            const double away = std::hypot(m.x, m.y) / k;
            if (!(away * away > 1e6 * -target())) return;
        } else {
            return;
        }
        at.x0 = at.y0 = 0;
        for (int i : best_.subset) {
            at.x0 += problem_.points.given_x[i] / k;
            at.y0 += problem_.points.given_y[i] / k;
        }
        at_ = at;
        const int twice = problem_.objective == Objective::lts ? 2 : 0;
        unit_ = std::ldexp(1.0, twice * (at.ey - problem_.points.ey));
        cells_ = make_cells(problem_.points, at_, problem_.n_jobs);
        ranges_ = ranges(cells_, problem_.points, at_, k_, problem_.n_jobs);
    }

    // ---- incumbents -------------------------------------------------------------------------

    double target() const { return target_.load(std::memory_order_relaxed); }
    void raise(double score) {
        double known = target_.load();
        while (score > known && !target_.compare_exchange_weak(known, score)) {
        }
    }

    void offer(const std::vector<int>& subset) {
        if (static_cast<int>(subset.size()) < k_) return;
        const double score = accurate_score(problem_.points, subset, problem_.objective);
        if (score == undefined || (options_.above && !(score > *options_.above))) return;
        const Lock lock(best_mutex_);
        if (best_.offer(score, subset)) raise(score);
        if (options_.above) decided_ = true;
    }

    struct Polished {
        Selection selection;
        double score = undefined;
    };
    Polished polished(const Moments& about, double worth = undefined) const {
        Polished p;
        p.selection.moments = about;
        p.selection = concentrate(cells_, p.selection, problem_.objective, k_, p.score, worth);
        return p;
    }
    void offer(const Polished& p) {
        if (p.selection.weight == k_ && p.score * unit_ > target() + margin_) {
            offer(indices(cells_, p.selection));
        }
    }
    void polish(const Moments& about) { offer(polished(about)); }

    void begin() {
        const int n = problem_.size();
        std::vector<int> everything(n);
        std::iota(everything.begin(), everything.end(), 0);
        if (k_ == n || options_.at_most) offer(everything);
        for (const auto& start : options_.starts) offer(start);
        if (k_ == n) return;

        const bool small = n <= sample_points;
        const int jobs = n <= serial_points ? 1 : problem_.n_jobs;
        const int sampled = sample_size(n);
        const Points few = small ? Points{} : sample(problem_.points, sampled, problem_.seed);
        const Points& seen = small ? problem_.points : few;
        const Cells rough = make_cells(seen, placing(seen), 1);
        const int kept = small ? k_ : shrunk(k_, sampled, n);
        const int starts =
            options_.starting_lines > 0 ? options_.starting_lines : (small ? 12 : 24);
        std::vector<Moments> good =
            promising(rough, problem_.objective, kept, starts, problem_.seed, jobs,
                      {small ? 3U : finalists, !small});
        const bool correlation = is_correlation(problem_.objective);
        at_ = placing(problem_.points);
        if (!good.empty()) at_ = placed_at(problem_.points, good[0], kept, correlation);
        cells_ = make_cells(problem_.points, at_, problem_.n_jobs);
        ranges_ = ranges(cells_, problem_.points, at_, k_, problem_.n_jobs);
        for (Moments& m : good) m = translate(m, kept);
        polish_all(good, jobs);
        for (const auto& start : options_.starts) polish(moments_of(start));
        if (best_.subset.empty() && !options_.above) offer_any();
    }

    // So many points that `sample_kept` of them would be kept.
    int sample_size(int n) const {
        const double wanted = static_cast<double>(sample_kept) * n / k_;
        return static_cast<int>(std::clamp(wanted, 1.0 * sample_points, 1.0 * most_sampled));
    }
    static int shrunk(int k, int sampled, int n) {
        return std::max(3, static_cast<int>(std::lround(static_cast<double>(k) * sampled / n)));
    }

    // Together where there are threads for it; they are offered in order all the same, so that the
    // answer does not depend on who is first.
    void polish_all(const std::vector<Moments>& good, int jobs) {
        std::vector<Polished> together(jobs > 1 ? good.size() : 0);
        parallel_for(jobs, std::ssize(together), [&](int, std::int64_t i) {
            together[i] = polished(good[i]);
            return true;
        });
        for (std::size_t i = 0; i < good.size(); ++i) {
            if (!best_.subset.empty() && halt()) break;  // one good subset is always worth its time
            offer(jobs > 1 ? together[i] : polished(good[i]));
            attend();
        }
    }

    // Moments found on a sample in standardised coordinates, as placed and blown up to k.
    Moments translate(const Moments& m, int kept) const {
        const Points& p = problem_.points;
        const double f = static_cast<double>(k_) / kept, n = kept;
        const double x0 = std::ldexp(at_.x0 - p.mx, -p.ex), y0 = std::ldexp(at_.y0 - p.my, -p.ey);
        const double x = m.x - n * x0, y = m.y - n * y0;
        const double xx = m.xx - 2 * x0 * m.x + n * x0 * x0;
        const double yy = m.yy - 2 * y0 * m.y + n * y0 * y0;
        const double xy = m.xy - x0 * m.y - y0 * m.x + n * x0 * y0;
        const double sx = std::ldexp(1.0, p.ex - at_.ex), sy = std::ldexp(1.0, p.ey - at_.ey);
        return {f * sx * x, f * sy * y, f * sx * sx * xx, f * sx * sy * xy, f * sy * sy * yy};
    }

    Moments moments_of(const std::vector<int>& subset) const {
        Moments s;
        for (int i : subset) {
            double x = problem_.points.given_x[i], y = problem_.points.given_y[i];
            at_(x, y);
            s.add(x, y);
        }
        return s;
    }

    // Centred sums of the best subset known, or of all points.
    Centred good_sums() const {
        if (best_.subset.empty()) return centred(cells_.cell[0].sums, problem_.size());
        return centred(moments_of(best_.subset), static_cast<double>(best_.subset.size()));
    }

    // Data so degenerate that no start has a value: two points with different x and, if their y
    // agree, a third with another y make one that has, whatever else is kept.
    void offer_any() {
        const auto &x = problem_.points.given_x, &y = problem_.points.given_y;
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        const auto i = low - x.begin(), j = high - x.begin();
        const auto other = std::find_if(y.begin(), y.end(), [&](double v) { return v != y[i]; });
        std::vector<char> kept(problem_.size(), 0);
        if (is_correlation(problem_.objective)) {
            if (*low == *high || other == y.end()) return;
            kept[i] = kept[j] = 1;
            if (y[i] == y[j]) kept[other - y.begin()] = 1;
        }
        auto missing = k_ - std::count(kept.begin(), kept.end(), 1);
        for (char& point : kept) {
            if (missing > 0 && point == 0) {
                point = 1;
                --missing;
            }
        }
        std::vector<int> subset;
        for (int q = 0; q < problem_.size(); ++q) {
            if (kept[q] != 0) subset.push_back(q);
        }
        offer(subset);
    }

    // ---- the tree ---------------------------------------------------------------------------

    bool finished() const { return decided_ || exact_fit_ || target() + tol_ >= natural_limit(); }
    double natural_limit() const { return limit_; }
    double least_score() const { return problem_.objective == Objective::r2 ? 0 : -1; }

    void grow_roots() {
        frontier_.clear();
        // k copies of one point have no correlation: keep fewer, and the bound sees it.
        const bool capped = is_correlation(problem_.objective) && !options_.at_most &&
                            *std::max_element(cells_.weight.begin(), cells_.weight.end()) >= k_;
        Undecided open;
        if (capped || !options_.cells || cells_.size() <= whole_points) {
            open.point.resize(cells_.size());
            std::iota(open.point.begin(), open.point.end(), 0);
            open.copies = cells_.weight;
            if (capped) {
                for (int& c : open.copies) c = std::min(c, k_ - 1);
            }
        } else {
            open.cell = {0};
            while (open.cell.size() < 64) {
                std::vector<int> finer;
                for (int at : open.cell) {
                    finer.push_back(cells_.cell[at].left);
                    finer.push_back(cells_.cell[at].left + 1);
                }
                open.cell = std::move(finer);
            }
        }
        for (Box& root : criterion_->roots()) {
            auto box = std::make_unique<Box>(std::move(root));
            box->open = open;
            box->need = k_;
            frontier_.push(std::move(box));
        }
    }

    // The most points a subset may have.
    int largest() const { return options_.at_most ? problem_.size() : k_; }

    // C(n, k), or infinity if it is more than can be listed.
    static double subsets(int n, int k) {
        double count = 1;
        for (int i = 0; i < std::min(k, n - k) && count <= most_listed; ++i) {
            count = count * (n - i) / (i + 1);
        }
        return count <= most_listed ? count : infinity;
    }

    // The boxes have cost as much as listing all subsets would.
    void list_all() {
        Problem sized = problem_;
        for (; sized.k <= largest(); ++sized.k) {
            const Answer best = exhaustive(sized, control_);
            if (!best.inliers.empty()) offer(best.inliers);
            if (control_.stopped()) return;
        }
        frontier_.clear();
        criterion_valid_ = true;
        set_tolerance();
    }

    void count_boxes(Worker& worker) {
        boxes_ += worker.boxes;
        worker.boxes = 0;
        if (static_cast<double>(boxes_) > most_boxes_) too_many_boxes_ = true;
        if (frontier_.bytes() > problem_.memory_limit) control_.out_of_memory();
    }

    void explore() {
        criterion_valid_ = true;
        Worker alone(*this);
        while (alone.looked_at() < serial_work && !frontier_.empty() && !halt()) {
            Boxes children;
            alone.process(frontier_.pop(), children);
            count_boxes(alone);
            for (auto& child : children) frontier_.push(std::move(child));
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

    bool halt() const {
        return control_.stopped() || decided_ || too_many_boxes_ || !criterion_valid_;
    }

    void attend() {
        control_.look([&] { return Progress{target(), live_bound(), boxes_, 0}; });
    }
    // What no subset passes as far as is known now: the boxes that wait, those that other threads
    // hold, and what is closed.
    double live_bound() const {
        if (criterion_ == nullptr || !criterion_valid_) return limit_;  // nothing is closed yet
        double bound = std::max({frontier_.upper(), target() + tol_, parts_bound_.load()});
        for (double upper : held_) bound = std::max(bound, upper);
        return std::min(bound, limit_);
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
            children.clear();
            // If it fails the others stop, and the exception goes to the caller.
            or_else([&] { worker.process(std::move(box), children); },
                    [&] { control_.interrupt(); });
            lock.lock();
            --active_;
            held_[id] = undefined;
            count_boxes(worker);
            for (auto& child : children) frontier_.push(std::move(child));
            changed_.notify_all();
            if (id == 0) attend_unlocked(lock);
        }
        looked_at_ += worker.looked_at();
        changed_.notify_all();
    }

    // One thread's tools for looking at boxes.
    class Worker {
      public:
        explicit Worker(Search& search)
            : s_(search),
              criterion_(search.criterion_->clone()),
              bounder_(search.cells_, search.options_.at_most) {}

        std::uint64_t boxes = 0;
        double looked_at() const { return bounder_.looked_at; }

        void process(std::unique_ptr<Box> box, Boxes& children) {
            ++boxes;
            if (!aim() || box->upper <= s_.target() + s_.tol_) return;
            Choice choice;
            Bound bound;
            if (closes(*box, choice, bound)) return;
            propose(*box, choice);
            const double value = bound.least() - bound.error;
            box->upper = std::min(box->upper, criterion_->upper(*box, value) * s_.unit_);
            box->priority = value;
            const Choice worst = bounder_.chosen_at_worst(bound);
            if (!bounder_.fix(*box, bound)) return;
            if (hidden_by_rounding(bound) && s_.resolve(*box, bounder_)) return;
            const bool in_points = wants_points(*box, *criterion_, choice.value, worst, bound);
            if (list(*box, s_.options_.enumerate * (in_points ? 20 : 1))) return;
            if (!in_points) {
                split(std::move(box), *criterion_, worst, children);
            } else if (box->open.cell.empty()) {
                branch_on_copies(std::move(box), *criterion_, s_.cells_, children);
            } else {
                bounder_.open_level(*box);
                children.push_back(std::move(box));
            }
        }

      private:
        static bool hidden_by_rounding(const Bound& bound) {
            return !(bound.least() < -4 * bound.error);
        }

        bool aim() {
            criterion_->aim(s_.target() / s_.unit_);
            if (!criterion_->valid()) s_.criterion_valid_ = false;
            return criterion_->valid() && s_.target() + s_.tol_ < s_.natural_limit();
        }

        bool closes(Box& box, Choice& choice, Bound& bound) {
            for (;;) {
                bounder_.load(box);
                const Corners corners = criterion_->corners(box, bounder_, choice);
                bound = bounder_.bound(corners, box.lambda);
                const double least = bound.least();
                if (least >= bound.error) return true;
                if (fine_enough(box, bound) || !bounder_.open_cells(box)) return false;
            }
        }

        // Cells are opened while they are what keeps the box open, or much of it: not where halving
        // the box would gain more.
        bool fine_enough(const Box& box, const Bound& bound) const {
            const double coarse = bounder_.coarseness(), missing = std::fabs(bound.least());
            if (coarse <= coarse_share * missing) return true;
            if (coarse >= closing_share * missing) return false;
            const Choice worst = bounder_.chosen_at_worst(bound);
            return coarse <
                   criterion_->width_cost(box, 0, worst) + criterion_->width_cost(box, 1, worst);
        }

        void propose(const Box& box, const Choice& choice) {
            if (std::fabs(choice.weight - s_.k_) > 0.5 * s_.k_) return;
            const bool coarse = !box.open.cell.empty();
            // Cells that straddle the threshold count in part: their score promises a little too
            // much.
            const double doubt = coarse ? 1e-3 * std::fabs(s_.target()) : 0;
            if (!promises(choice.moments, choice.weight, doubt)) {
                if (coarse && choice.value < 0) explore_from(choice);
            } else if (coarse) {
                s_.polish(rescaled(choice));
            } else if (const auto whole = filled(box, choice)) {
                if (promises(*whole, s_.k_, 0)) s_.polish(*whole);
            }
        }
        // Cells hide how good the centre's own subset is. Concentration steps show it, as long as
        // they take no more than a share of the time.
        void explore_from(const Choice& choice) {
            if (explored_ > explored_share * bounder_.looked_at + explored_first) return;
            const Polished p = s_.polished(rescaled(choice), (s_.target() + s_.margin_) / s_.unit_);
            explored_ += p.selection.looked_at;
            s_.offer(p);
        }
        bool promises(const Moments& m, double weight, double doubt) const {
            const double about = score(s_.problem_.objective, centred(m, weight), weight);
            return about * s_.unit_ > s_.target() + s_.margin_ + doubt;
        }
        // A choice may be a copy or two short of k, and fewer points score more. So its gradient
        // chooses again, exactly as many as the box needs of those it has open.
        std::optional<Moments> filled(const Box& box, const Choice& choice) const {
            auto gain =
                quadratic_form(s_.problem_.objective, centred(choice.moments, choice.weight));
            if (!gain) return std::nullopt;
            gain->mx = choice.moments.x / choice.weight;
            gain->my = choice.moments.y / choice.weight;
            std::vector<std::pair<double, std::size_t>> worth;
            for (std::size_t i = 0; i < box.open.point.size(); ++i) {
                const int p = box.open.point[i];
                worth.emplace_back(-(*gain)(s_.cells_.x[p], s_.cells_.y[p]), i);
            }
            std::sort(worth.begin(), worth.end());
            Moments m = box.kept.moments();
            int need = box.need;
            for (const auto& [cost, i] : worth) {
                const int p = box.open.point[i];
                for (int z = box.open.copies[i]; z > 0 && need > 0; --z, --need) {
                    m.add(s_.cells_.x[p], s_.cells_.y[p]);
                }
            }
            return need == 0 ? std::optional(m) : std::nullopt;
        }
        Moments rescaled(const Choice& c) const {
            const double f = s_.k_ / c.weight;
            const Moments& m = c.moments;
            return {f * m.x, f * m.y, f * m.xx, f * m.xy, f * m.yy};
        }

        bool list(Box& box, std::int64_t most) {
            double weight = 0;
            for (int at : box.open.cell) weight += s_.cells_.cell[at].weight;
            if (weight > 64) return false;
            bounder_.open_all(box);
            if (ways(box.open, box.need, s_.options_.at_most, most) > most) return false;
            // Of the decided moments, of up to `need` points added to them, and of placing them.
            Slack slack{(40.0 + s_.cells_.roundings + std::max(box.need, 64)) * 0x1p-52};
            slack.xx = slack.xy = slack.yy = least_square;
            visit(s_.problem_.objective, [&]<class O>() {
                const auto look = [&](const Moments& m, double kept, const Picks& picks) {
                    const double best = O::optimistic(centred_range(m, kept, slack), kept);
                    if (!(best * s_.unit_ <= s_.target() + s_.margin_))
                        s_.offer(s_.collect(box, picks));
                };
                Lister(box, s_.cells_, s_.options_.at_most, look).run();
            });
            return true;
        }

        Search& s_;
        std::unique_ptr<Criterion> criterion_;
        Bounder bounder_;
        double explored_ = 0;  // cells and points costed for proposals
    };

    // Rounding hides whether the box closes. Its rows by themselves, the decided ones not forced,
    // are a problem of fewer points with its own centre and scale, where it may not.
    bool resolve(const Box& box, const Bounder&) {
        std::vector<int> rows = collect(box, {});
        for (std::size_t i = 0; i < box.open.point.size(); ++i) {
            const auto members = cells_.members(box.open.point[i]);
            rows.insert(rows.end(), members.begin(), members.end());
        }
        for (int at : box.open.cell) {
            const Cell& c = cells_.cell[at];
            for (int p = c.first; p < c.last; ++p) {
                const auto members = cells_.members(p);
                rows.insert(rows.end(), members.begin(), members.end());
            }
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        const int size = static_cast<int>(rows.size());
        if (size < k_) return true;
        if (size > largest_part * problem_.size() || options_.depth >= deepest) return false;
        {
            const Lock lock(best_mutex_);
            if (resolved_.contains(rows)) return true;
        }
        return solve_part(rows);
    }

    bool solve_part(const std::vector<int>& rows) {
        const Points& p = problem_.points;
        const Points some = some_of(p, rows);
        Problem part = problem_;
        part.points = standardise(some.given_x, some.given_y, problem_.objective);
        part.n_jobs = 1;
        CertifiedOptions options;
        options.at_most = options_.at_most;
        options.depth = options_.depth + 1;
        Control own;
        own.on_tick = [this](const Progress&) { return !halt(); };
        const CertifiedAnswer found = certified(part, options, own);
        if (!found.inliers.empty()) {
            std::vector<int> subset;
            for (int i : found.inliers) subset.push_back(rows[i]);
            offer(subset);
        }
        if (found.status != Status::optimal) return false;
        const Lock lock(best_mutex_);
        if (!found.inliers.empty()) {
            const Objective o = problem_.objective;
            const int unit = value_exponent(part.points, o) - value_exponent(p, o);
            parts_bound_ = std::max(parts_bound_.load(), std::ldexp(found.bound, unit));
        }
        resolved_.insert(rows);
        return true;
    }

    // The subset of a box's decided copies and some picks among the others.
    std::vector<int> collect(const Box& box, const Picks& picks) const {
        Selection all;
        std::vector<int> copies(cells_.size(), 0);
        for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
            all.cells.insert(all.cells.end(), d->cells.begin(), d->cells.end());
            for (const auto [point, count] : d->points) copies[point] += count;
        }
        for (const auto [point, count] : picks) copies[point] += count;
        for (int p = 0; p < cells_.size(); ++p) {
            if (copies[p] > 0) all.points.push_back({p, copies[p]});
        }
        return indices(cells_, all);
    }

    CertifiedAnswer answer() {
        CertifiedAnswer a;
        a.inliers = best_.subset;
        a.score = best_.score;
        a.nodes = boxes_;
        a.looked_at = looked_at_;
        const bool found = decided_;  // a subset above the threshold, not necessarily the best
        const bool fine = tol_ <= tolerance();
        const bool closed = criterion_valid_ && frontier_.empty() && fine;
        bool complete = !found && (finished() || closed);
        a.bound = limit_;
        if (complete) {
            a.bound = proved();
            // Parts have tolerances of their own.
            complete = parts_bound_ <= target() + 1.1 * tolerance() || a.bound >= limit_;
        } else if (!found && criterion_valid_) {
            a.bound =
                std::min(std::max({frontier_.upper(), proved(), parts_bound_.load()}), limit_);
        }
        a.decided = found || complete;
        a.status = complete ? Status::optimal : control_.status(Status::heuristic);
        return a;
    }

    // What no subset of a closed box passes; rounded upwards, with what scoring may have lost.
    double proved() const {
        if (k_ == problem_.size() && !options_.above) return best_.score;
        if (exact_fit_) return limit_;
        const double ulps = best_.subset.size() > precise_points ? 64 : 4;
        const double most = std::max(target() + tol_, parts_bound_.load());
        return std::min(most + ulps * 0x1p-52 * std::fabs(most), std::max(limit_, best_.score));
    }

    const Problem& problem_;
    const CertifiedOptions& options_;
    Control& control_;
    int k_;
    double tol_ = 0, margin_ = 0, limit_;
    bool exact_fit_ = false;
    double unit_ = 1;                             // of a score in placed coordinates
    std::atomic<double> parts_bound_{undefined};  // of what was solved by itself
    std::set<std::vector<int>> resolved_;
    Placing at_;
    Cells cells_;
    Ranges ranges_{};
    std::unique_ptr<Criterion> criterion_;
    std::atomic<bool> criterion_valid_{true}, decided_{false}, too_many_boxes_{false};
    double most_boxes_ = infinity;
    std::atomic<double> target_{undefined};
    Incumbent best_;
    Mutex best_mutex_, frontier_mutex_;
    Condition changed_;
    Frontier frontier_;
    std::vector<double> held_;  // upper ends of the boxes that threads are looking at
    int active_ = 0;
    std::uint64_t boxes_ = 0;
    double looked_at_ = 0;
};

}  // namespace

// Data too wide for boxes.
static CertifiedAnswer listed(const Problem& problem, const CertifiedOptions& options,
                              Control& control) {
    CertifiedAnswer a;
    static_cast<Answer&>(a) =
        list_wide(problem, options.at_most ? problem.size() : problem.k, control);
    a.decided = a.status == Status::optimal;
    if (options.above) {
        const bool passed = a.score > *options.above;
        a.decided |= passed;
        if (!passed) a.inliers.clear();
    }
    return a;
}

CertifiedAnswer certified(const Problem& problem, const CertifiedOptions& options,
                          Control& control) {
    if (problem.points.wide) return listed(problem, options, control);
    if (problem.objective == Objective::mcd) return least_determinant(problem, options, control);
    return Search(problem, options, control).run();
}

Answer certified_method(const Problem& problem, Control& control) {
    if (problem.objective == Objective::var) return univariate(problem, control);
    return certified(problem, CertifiedOptions{}, control);
}

}  // namespace quadsweep
