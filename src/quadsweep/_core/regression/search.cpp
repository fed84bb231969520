#include "search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>

#include "bound.hpp"
#include "branching.hpp"
#include "closing.hpp"
#include "concentrate.hpp"
#include "frontier.hpp"
#include "shared/parallel.hpp"

namespace quadsweep::regression {
namespace {

constexpr double most_listed = 2e8;      // subsets that may all be listed, where boxes do not end
constexpr double listed_a_box = 1000;    // in the time of one box
constexpr int sampled = 2000;            // items that random starts look at
constexpr int polished_on = 50000;       // items that starts are polished on before all are
constexpr double serial_work = 3e5;      // rows in boxes before more threads are asked for help
constexpr double explored_share = 0.05;  // of the rows and cells costed: for proposals
constexpr int leaf_items = 16;           // rows in a leaf of the tree
constexpr int few_rows = 2048;           // in cells: then rows are no dearer than their cells
constexpr double coarse_share = 0.25;    // of the bound: what unopened cells may take away from it
constexpr double closing_share = 0.8;    // of the bound: opening them may close the box
constexpr double bounded_again = 0.5;    // of a box: what is left of it need not be split at once

class Search {
    class Worker;

  public:
    Search(const Table& table, const Options& options, Control& control)
        : table_(table), options_(options), control_(control), k_(options.k) {}

    Found run() {
        if (options_.above) raise(*options_.above);
        identical_ = identical_units(table_);
        begin();
        if (!no_value_ && k_ < table_.units && !finished() && !halt()) {
            form_.aim(threshold());
            for (auto& root : roots(form_, items_, cells_, k_)) frontier_.push(std::move(root));
            root_ = *roots(form_, items_, {}, k_)[0];
            allow_boxes();
            explore();
            if (too_many_boxes_ && !control_.stopped() && !decided_) list_all();
        }
        return answer();
    }

  private:
    // ---- incumbents -------------------------------------------------------------------------

    double target() const { return target_.load(std::memory_order_relaxed); }
    void raise(double score) {
        double known = target_.load();
        while (score > known && !target_.compare_exchange_weak(known, score)) {
        }
    }
    double limit() const {
        if (table_.kind == Kind::r2) return 1;
        return table_.kind == Kind::lts ? 0 : infinity;
    }
    double tolerance() const {
        if (table_.kind == Kind::r2) return options_.tol;
        const bool relative = table_.kind == Kind::lts && target() != undefined;
        return relative ? options_.tol * std::fabs(target()) : 0;
    }
    // A subset is worth collecting if it beats the target by this.
    double margin() const { return tolerance() / 100; }
    // What the criterion is aimed at, in the search's units.
    double threshold() const {
        if (table_.kind == Kind::r2) return target() + options_.tol;
        if (table_.kind == Kind::lts) {
            return -target() * (1 - options_.tol) / (placed_.y_scale * placed_.y_scale);
        }
        return *options_.above;
    }
    double in_table_units(double score) const {
        return table_.kind == Kind::lts ? score * placed_.y_scale * placed_.y_scale : score;
    }
    bool finished() const {
        return decided_ || (is_fit(table_.kind) && target() + tolerance() >= limit());
    }

    bool enough(std::size_t units) const {
        return options_.at_least ? static_cast<int>(units) >= k_ : static_cast<int>(units) == k_;
    }
    void offer(std::vector<int> units) {
        if (!enough(units.size())) return;
        std::sort(units.begin(), units.end());
        const auto [score, known, off] = score_of(table_, units);
        // A question is answered by whoever checks the subset, where 32 digits do not tell.
        const bool near = options_.above && off > ulp && std::fabs(score - *options_.above) <= off;
        const bool unclear = options_.above && (!known || near);
        if (!unclear && (score == undefined || std::isnan(score))) return;
        if (options_.above && !unclear && !(score > *options_.above)) return;
        const std::lock_guard lock(best_mutex_);
        if (best_.offer(unclear ? *options_.above : score, units)) raise(score);
        if (options_.above) decided_ = true;
    }
    // Where rounding hides the score, 32 digits must tell.
    bool promises(const Own& o) const {
        return o.best == infinity || in_table_units(o.best) > target() + margin();
    }
    void offer(const Selection& s) {
        if (promises(s.own)) offer(units_of(items_, s.items));
    }

    void place_on(const std::vector<int>& reference) {
        placed_ = place(table_, reference, options_.n_jobs);
        items_ = make_items(table_, placed_, identical_);
        form_ = Form(table_.kind, table_.centred, placed_);
        no_value_ = placed_.no_value;
        if (options_.above || target() != undefined) form_.aim(threshold());
        if (table_.kind == Kind::r2 && !no_value_) least_tss_ = least_total();
    }

    // The least sum of squares of y about its mean (or zero) over all subsets: of k neighbours.
    double least_total() const {
        const auto& ones = table_.design.empty() ? table_.y.hi : table_.design[0].hi;
        const bool plain =
            std::all_of(ones.begin(), ones.end(), [&](double one) { return one == ones[0]; });
        if (table_.grouped() || !table_.centred || !plain) return 0;
        std::vector<double> y = placed_.column[placed_.searched];
        std::sort(y.begin(), y.end());
        double least = infinity;
        if (y.size() > 4096) {  // a window that moves on, and what its sums may have lost
            double sum = 0, squares = 0, largest = 0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                const double gone = i < static_cast<std::size_t>(k_) ? 0 : y[i - k_];
                sum += y[i] - gone;
                squares += y[i] * y[i] - gone * gone;
                largest = std::max(largest, squares);
                if (i + 1 >= static_cast<std::size_t>(k_)) {
                    least = std::min(least, squares - sum * sum / k_);
                }
            }
            const double lost = 0x1p-50 * static_cast<double>(y.size()) * largest;
            return std::max(least * (1 - 1e-9) - lost, 0.0);
        }
        for (std::size_t i = 0; i + k_ <= y.size(); ++i) {
            double total = 0, mean = 0;
            for (int j = 0; j < k_; ++j) mean += y[i + j] / k_;
            for (int j = 0; j < k_; ++j) total += (y[i + j] - mean) * (y[i + j] - mean);
            least = std::min(least, total);
        }
        return least * (1 - 1e-9);
    }

    void begin() {
        std::vector<int> everything(table_.units);
        std::iota(everything.begin(), everything.end(), 0);
        place_on(everything);
        if (no_value_) return;
        if (k_ == table_.units || options_.at_least) offer(everything);
        for (const auto& start : options_.starts) offer(start);
        if (k_ == table_.units || decided_) return;
        std::vector<int> reference = start_search(everything);
        if (no_value_ || halt() || finished()) return;
        if (!best_.subset.empty()) reference = best_.subset;
        if (!reference.empty()) place_on(reference);
        if (!table_.grouped() && items_.size() >= options_.tree_from) {
            const int leaf = std::clamp(items_.size() / 8, 1, leaf_items);
            cells_ = make_cells(items_, placed_, leaf, options_.n_jobs);
        }
    }

    // Concentration from all units, the given starts, and random small subsets. The best selection
    // comes back even where it beats nothing: it is what the columns are centred on.
    std::vector<int> start_search(const std::vector<int>& everything) {
        Concentrator concentrator(items_, form_, k_, options_.at_least);
        std::vector<Selection> good;
        // Of very many items the steps are taken on some first; only the last ones need all.
        const Items some = sample(items_, polished_on, options_.seed + 1);
        const bool all = some.size() == items_.size();
        Concentrator on_some(some, form_, all ? k_ : share_of(some), options_.at_least);
        const auto from = [&](const Own& own) {
            good.push_back(all ? concentrator.climb(own, 100) : on_some.climb(own, 100));
        };
        from(own(form_, concentrator.select(everything).sums));
        for (const auto& start : options_.starts) {
            if (!start.empty()) from(own(form_, concentrator.select(start).sums));
        }
        const int random = is_fit(table_.kind) ? 20 * form_.searched : 8 * form_.searched;
        const Items few = sample(items_, sampled, options_.seed);
        const bool whole = few.size() == items_.size();
        Concentrator on_sample(few, form_, whole ? k_ : share_of(few), options_.at_least);
        for (Selection& s : on_sample.from_random(random, whole ? 6 : 3, options_.seed)) {
            if (whole) {
                good.push_back(std::move(s));
            } else {
                from(s.own);
            }
            if (attend()) break;
        }
        if (!all) good = {concentrator.climb(best_of(good).own, 100)};
        for (const Selection& s : good) {
            if (decided_) break;
            offer(s);
        }
        if (best_.subset.empty() && table_.kind == Kind::r2 && !options_.above && k_ > 1)
            offer_any();
        return units_of(items_, best_of(good).items);
    }
    static const Selection& best_of(const std::vector<Selection>& good) {
        return *std::max_element(
            good.begin(), good.end(),
            [](const Selection& a, const Selection& b) { return a.own.score < b.own.score; });
    }
    // How many of a sample are as many as k of all.
    int share_of(const Items& some) const {
        const double share = static_cast<double>(k_) * some.size() / std::max(items_.size(), 1);
        return std::max(static_cast<int>(std::lround(share)), form_.searched + 1);
    }

    // Data so degenerate that no start has a value: two units whose response differs make one that
    // has, whatever else is kept.
    void offer_any() {
        std::vector<int> subset;
        for (int i = 0; i < table_.units && best_.subset.empty(); ++i) {
            for (int j = i + 1; j < table_.units && best_.subset.empty(); ++j) {
                subset = {i, j};
                for (int u = 0; u < table_.units && static_cast<int>(subset.size()) < k_; ++u) {
                    if (u != i && u != j) subset.push_back(u);
                }
                subset.resize(std::min<std::size_t>(subset.size(), k_));
                offer(subset);
            }
            if (attend()) return;
        }
    }

    // ---- the tree ---------------------------------------------------------------------------

    bool halt() const { return control_.stopped() || decided_ || too_many_boxes_; }
    bool attend() {
        control_.look([&] {
            return Progress{target(), std::max(frontier_.upper(), target() + tolerance()), boxes_,
                            0};
        });
        return control_.stopped();
    }

    void allow_boxes() {
        if (options_.enumerate < Options{}.enumerate) return;
        const auto most = static_cast<std::int64_t>(most_listed);
        const std::int64_t all = ways(root_, options_.at_least, most);
        if (all <= most) most_boxes_ = 1000 + static_cast<double>(all) / listed_a_box;
    }
    void count_boxes(Worker& worker) {
        boxes_ += worker.boxes;
        worker.boxes = 0;
        if (static_cast<double>(boxes_) > most_boxes_) too_many_boxes_ = true;
    }

    // The boxes have cost as much as listing all subsets would.
    void list_all() {
        std::uint64_t seen = 0;
        const auto look = [&](const Gram& sums, const Picks& picks) {
            if (promises(own(form_, sums))) offer(units_of(items_, picks));
            if (++seen % 4096 == 0) attend();
            return !control_.stopped() && !decided_;
        };
        Lister(root_, items_, options_.at_least, look).run();
        if (control_.stopped()) return;
        frontier_.clear();
        too_many_boxes_ = false;
    }

    void explore() {
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
        parallel_for(options_.n_jobs, options_.n_jobs, [&](int id, std::int64_t) {
            work(id);
            return true;
        });
    }

    void work(int id) {
        Worker worker(*this);
        Boxes children;
        std::unique_lock lock(frontier_mutex_);
        for (;;) {
            while (frontier_.empty() && active_ > 0 && !halt()) {
                changed_.wait_for(lock, std::chrono::milliseconds(10));
                if (id == 0) attend();
            }
            if (frontier_.empty() || halt()) break;
            auto box = frontier_.pop();
            ++active_;
            lock.unlock();
            children.clear();
            try {
                worker.process(std::move(box), children);
            } catch (...) {
                control_.interrupt();  // the others stop; the exception goes to the caller
                throw;
            }
            lock.lock();
            --active_;
            count_boxes(worker);
            for (auto& child : children) frontier_.push(std::move(child));
            changed_.notify_all();
            if (id == 0) attend();
        }
        looked_at_ += worker.looked_at();
        changed_.notify_all();
    }

    // One thread's tools for looking at boxes.
    class Worker {
      public:
        explicit Worker(Search& search)
            : s_(search),
              bounder_(search.items_, search.cells_, search.form_, search.options_.at_least) {}

        std::uint64_t boxes = 0;
        double looked_at() const { return bounder_.looked_at; }

        void process(std::unique_ptr<Box> box, Boxes& children) {
            ++boxes;
            if (s_.finished() || box->upper <= s_.target() + s_.tolerance()) return;
            Form form = bounder_.form();
            form.aim(s_.threshold());
            bounder_.aim(form);
            if (box->of_fits) take_tau(*box, form, box->tau);
            Choice choice;
            if (closes(*box, choice)) return;
            const double value = bounder_.least() - bounder_.error();
            box->upper = std::min(box->upper, upper(*box, form, value));
            box->priority = value;
            if (!bounder_.fix(*box)) return;
            const double left = bounder_.cut(*box);
            if (left == 0) return;
            if (left < bounded_again) {
                children.push_back(std::move(box));
                return;
            }
            const bool by_items = wants_items(*box, bounder_, choice.value);
            if (list(*box, s_.options_.enumerate * (by_items ? 20 : 1))) return;
            if ((by_items || box->depth % 6 == 5) &&
                hopeless(s_.table_, s_.items_, s_.cells_, form, *box, bounder_.everything(*box))) {
                return;
            }
            if (by_items && !box->cell.empty()) {
                bounder_.open_level(*box);
                children.push_back(std::move(box));
            } else if (by_items) {
                branch_on_copies(std::move(box), bounder_, s_.items_, children);
            } else {
                split(std::move(box), bounder_, children);
            }
        }

      private:
        bool closes(Box& box, Choice& choice) {
            for (bool first = true;; first = false) {
                if (rows_in_cells(box) <= std::min(few_rows, s_.items_.size() / 4)) {
                    bounder_.open_all(box);
                }
                bounder_.load(box);
                choice = bounder_.centre(box);
                if (box.of_fits) choose_tau(box, choice);
                if (first && (choice.value < 0 || box.depth < 8 || box.depth % 4 == 0)) {
                    propose(box, choice);
                }
                bounder_.bound(box);
                if (bounder_.least() >= bounder_.error()) return true;
                if (fine_enough(box) || !bounder_.open_cells(box)) return false;
            }
        }
        int rows_in_cells(const Box& box) const {
            int rows = 0;
            for (int at : box.cell) {
                const auto& c = s_.cells_.cell[at];
                rows += c.last - c.first;
            }
            return rows;
        }
        // Cells are opened while they are what keeps the box open, or much of it: not where halving
        // the box would gain more.
        bool fine_enough(const Box& box) const {
            if (box.cell.empty()) return true;
            const double coarse = bounder_.coarseness(), missing = std::fabs(bounder_.least());
            if (coarse <= coarse_share * missing) return true;
            if (coarse >= closing_share * missing) return false;
            double width = 0;
            for (int j = 0; j < bounder_.form().searched; ++j) width += bounder_.width_cost(box, j);
            return coarse < width;
        }

        // Any tau serves; the chosen items' own makes the test sharpest for them.
        void choose_tau(Box& box, Choice& choice) {
            for (int step = 0; step < 2; ++step) {
                bounder_.complete(choice);
                const Own o = own(bounder_.form(), choice.sums);
                const double wanted = std::clamp(o.theta[bounder_.form().fitted], 0.125, 8.0);
                const double way = std::log(wanted / box.tau);
                if (!(std::fabs(way) > 0.02)) return;
                Box trial = box;
                take_tau(trial, bounder_.form(), box.tau * std::exp(0.7 * way));
                Choice next = bounder_.centre(trial);
                if (!(next.value / trial.tau > choice.value / box.tau)) {
                    choice = bounder_.centre(box);
                    return;
                }
                choice = next;
                box = std::move(trial);
            }
        }

        // theta_y^2 (RSS - (1 - t) TSS) >= value for every subset whose own theta is in the box;
        // for lts theta_y^2 (RSS - t) >= value.
        double upper(const Box& box, const Form& form, double value) const {
            if (!is_fit(form.kind)) return infinity;
            const int y = form.searched - 1;
            const double theta = std::fabs(box.centre[y]) - box.half[y];
            if (!(theta > 0)) return s_.limit();
            const double excess = value / (theta * theta) * (1 + 1e-12);
            if (form.kind == Kind::lts) {
                return -std::max(s_.in_table_units(form.base + excess), 0.0);
            }
            return s_.least_tss_ > 0 ? std::min(1 - form.s_u - excess / s_.least_tss_, s_.limit())
                                     : s_.limit();
        }

        void propose(const Box& box, Choice& choice) {
            if (!(std::fabs(choice.units - s_.k_) <= 0.5 * s_.k_ + 1)) return;
            bounder_.complete(choice);
            const Own o = own(bounder_.form(), choice.sums);
            if (!(s_.in_table_units(o.score) > s_.target() + s_.margin()) &&
                !(choice.value < 0 && box.depth % 4 == 0)) {
                return;
            }
            // Cells count in part, so that a score promises a little too much: then steps on all
            // rows may take no more than a share of the time.
            if (!box.cell.empty() && explored_ > explored_share * bounder_.looked_at) return;
            Concentrator concentrator(s_.items_, bounder_.form(), s_.k_, s_.options_.at_least);
            s_.offer(concentrator.climb(o, 50));
            explored_ += static_cast<double>(concentrator.steps()) * s_.items_.size();
        }

        bool list(const Box& box, std::int64_t most) {
            if (ways(box, s_.options_.at_least, most) > most) return false;
            const auto look = [&](const Gram& sums, const Picks& picks) {
                if (s_.promises(own(bounder_.form(), sums))) s_.offer(s_.collect(box, picks));
                return !s_.halt();
            };
            Lister(box, s_.items_, s_.options_.at_least, look).run();
            return !s_.control_.stopped();
        }

        Search& s_;
        Bounder bounder_;
        double explored_ = 0;  // rows costed for proposals
    };

    // The subset of a box's decided copies and some picks among the others.
    std::vector<int> collect(const Box& box, const Picks& picks) const {
        std::vector<int> copies(items_.size(), 0);
        for (const Decided* d = box.decided.get(); d != nullptr; d = d->before.get()) {
            for (const auto& [item, count] : d->items) copies[item] += count;
            for (int at : d->cells) {
                const auto& c = cells_.cell[at];
                for (int i = c.first; i < c.last; ++i) copies[i] += items_.copies[i];
            }
        }
        for (const auto& [item, count] : picks) copies[item] += count;
        Picks all;
        for (int i = 0; i < items_.size(); ++i) {
            if (copies[i] > 0) all.push_back({i, copies[i]});
        }
        return units_of(items_, all);
    }

    Found answer() {
        Found a;
        a.inliers = best_.subset;
        a.score = best_.score;
        a.nodes = boxes_;
        a.looked_at = looked_at_;
        const bool found = decided_;  // a subset above the threshold, not necessarily the best
        const bool complete =
            !found && (no_value_ || finished() ||
                       (frontier_.empty() && !control_.stopped() && !too_many_boxes_));
        a.decided = found || complete;
        a.status = complete ? Status::optimal : control_.status(Status::heuristic);
        a.bound = limit();
        if (complete) {
            const bool only_one = k_ == table_.units && !options_.above;
            a.bound = only_one ? best_.score : std::min(target() + tolerance(), limit());
        } else if (!found && !too_many_boxes_ && !frontier_.empty()) {
            a.bound = std::min(std::max(frontier_.upper(), target() + tolerance()), limit());
        }
        return a;
    }

    const Table& table_;
    const Options& options_;
    Control& control_;
    int k_;
    Identical identical_;
    Placed placed_;
    Items items_;
    Cells cells_;
    Form form_;
    Box root_;
    bool no_value_ = false;
    double least_tss_ = 0;  // of y over all subsets, in the search's units
    std::atomic<bool> decided_{false}, too_many_boxes_{false};
    double most_boxes_ = infinity;
    std::atomic<double> target_{undefined};
    Incumbent best_;
    std::mutex best_mutex_, frontier_mutex_;
    std::condition_variable changed_;
    Frontier frontier_;
    int active_ = 0;
    std::uint64_t boxes_ = 0;
    double looked_at_ = 0;
};

}  // namespace

Found search(const Table& table, const Options& options, Control& control) {
    return Search(table, options, control).run();
}

}  // namespace quadsweep::regression
