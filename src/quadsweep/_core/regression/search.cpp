#include "search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "branching.hpp"
#include "concentrate.hpp"
#include "relaxation.hpp"
#include "search/listing.hpp"

namespace quadsweep::regression {
namespace {

constexpr double most_listed = 2e8;    // subsets that may all be listed, where boxes do not end
constexpr double listed_a_box = 1000;  // in the time of one box
constexpr int sampled = 2000;          // items that random starts look at
constexpr int polished_on = 50000;     // items that starts are polished on before all are
constexpr double serial_work = 3e5;    // rows in boxes before more threads are asked for help
constexpr double most_waiting = 8e8;   // bytes of boxes before the search goes depth first
constexpr int leaf_items = 16;         // rows in a leaf of the tree

class Search {
  public:
    Search(const Table& table, const Options& options, Control& control)
        : table_(table),
          options_(options),
          control_(control),
          k_(options.k),
          relaxation_(table, options, control) {}

    Found run() {
        begin();
        if (!relaxation_.no_value() && k_ < table_.units && !finished() && !control_.stopped()) {
            relaxation_.aim();
            root_ = *roots(relaxation_.form(), relaxation_.items(), {}, k_)[0];
            driver_.emplace(
                relaxation_,
                Limits{options_.n_jobs, serial_work, most_boxes(),
                       std::min(options_.memory_limit / 2, most_waiting), options_.memory_limit},
                control_);
            driver_->begin(roots(relaxation_.form(), relaxation_.items(), relaxation_.cells(), k_));
            driver_->run();
            const bool may_list = most_boxes() < options_.most_boxes;
            if (driver_->too_many_boxes() && may_list && !control_.stopped() &&
                !relaxation_.decided()) {
                list_all();
            }
        }
        return answer();
    }

  private:
    bool finished() const { return relaxation_.decided() || relaxation_.at_limit(); }
    void offer(const Selection& s) {
        if (relaxation_.promises(s.own)) {
            relaxation_.offer(units_of(relaxation_.items(), s.items));
        }
    }
    bool over() { return relaxation_.over() && attend(); }
    // Before there are boxes nothing is proved.
    bool attend() {
        control_.look([&] { return Progress{relaxation_.target(), relaxation_.limit(), 0, 0}; });
        return control_.stopped();
    }

    // ---- the first subsets --------------------------------------------------------------------

    void begin() {
        std::vector<int> everything(table_.units);
        std::iota(everything.begin(), everything.end(), 0);
        relaxation_.place_on(everything);
        if (relaxation_.no_value() || over()) return;
        if (k_ == table_.units || options_.k_or_more) relaxation_.offer(everything);
        for (const auto& start : options_.starts) relaxation_.offer(start);
        if (k_ == table_.units || relaxation_.decided()) return;
        std::vector<int> reference = start_search(everything);
        if (relaxation_.no_value() || control_.stopped() || finished()) return;
        if (!relaxation_.best().subset.empty()) reference = relaxation_.best().subset;
        if (!reference.empty()) relaxation_.place_on(reference);
        const int items = relaxation_.items().size();
        if (attend()) return;
        if (!table_.grouped() && items >= options_.tree_from) {
            relaxation_.make_tree(std::clamp(items / 8, 1, leaf_items));
            attend();
        }
    }

    // Concentration from all units, the given starts, and random small subsets. The best selection
    // comes back even where it beats nothing: it is what the columns are centred on.
    std::vector<int> start_search(const std::vector<int>& everything) {
        const Items& items = relaxation_.items();
        const Form& form = relaxation_.form();
        Concentrator concentrator(items, form, k_, options_.k_or_more);
        std::vector<Selection> good;
        // Of very many items the steps are taken on some first; only the last ones need all.
        const Items some = sample(items, polished_on, options_.seed + 1);
        const bool all = some.size() == items.size();
        Concentrator on_some(some, form, all ? k_ : share_of(some), options_.k_or_more);
        const auto stopped = [&] { return attend(); };
        const auto from = [&](const Own& own) {
            good.push_back((all ? concentrator : on_some).climb(own, 100, stopped));
        };
        from(own(form, concentrator.select(everything).sums));
        for (const auto& start : options_.starts) {
            if (!start.empty()) from(own(form, concentrator.select(start).sums));
        }
        const int random = attend()              ? 1
                           : is_fit(table_.kind) ? 20 * form.searched
                                                 : 8 * form.searched;
        const Items few = sample(items, sampled, options_.seed);
        const bool whole = few.size() == items.size();
        Concentrator on_sample(few, form, whole ? k_ : share_of(few), options_.k_or_more);
        for (Selection& s : on_sample.from_random(random, whole ? 6 : 3, options_.seed)) {
            if (whole) {
                good.push_back(std::move(s));
            } else {
                from(s.own);
            }
            if (attend()) break;
        }
        if (!all) good = {concentrator.climb(best_of(good).own, 100, stopped)};
        if (over()) return unscored_ = units_of(items, best_of(good).items);
        for (const Selection& s : good) {
            if (relaxation_.decided()) break;
            offer(s);
        }
        if (relaxation_.best().subset.empty() && table_.kind == Kind::r2 && !options_.above &&
            k_ > 1) {
            offer_any();
        }
        return units_of(items, best_of(good).items);
    }
    static const Selection& best_of(const std::vector<Selection>& good) {
        return *std::max_element(
            good.begin(), good.end(),
            [](const Selection& a, const Selection& b) { return a.own.score < b.own.score; });
    }
    // How many of a sample are as many as k of all.
    int share_of(const Items& some) const {
        const double items = std::max(relaxation_.items().size(), 1);
        const double share = static_cast<double>(k_) * some.size() / items;
        return std::max(static_cast<int>(std::lround(share)), relaxation_.form().searched + 1);
    }

    // Data so degenerate that no start has a value: two units whose response differs make one that
    // has, whatever else is kept.
    void offer_any() {
        const auto none = [&] { return relaxation_.best().subset.empty(); };
        std::vector<int> subset;
        for (int i = 0; i < table_.units && none(); ++i) {
            for (int j = i + 1; j < table_.units && none(); ++j) {
                subset = {i, j};
                for (int u = 0; u < table_.units && static_cast<int>(subset.size()) < k_; ++u) {
                    if (u != i && u != j) subset.push_back(u);
                }
                subset.resize(std::min<std::size_t>(subset.size(), k_));
                relaxation_.offer(subset);
            }
            if (attend()) return;
        }
    }

    // ---- listing instead of boxes -------------------------------------------------------------

    double most_boxes() const {
        if (options_.enumeration_limit < Options{}.enumeration_limit) return options_.most_boxes;
        const auto most = static_cast<std::int64_t>(most_listed);
        const std::int64_t all = ways(root_.open, root_.need, options_.k_or_more, most);
        const double listed = 1000 + static_cast<double>(all) / listed_a_box;
        return all <= most ? std::min(listed, options_.most_boxes) : options_.most_boxes;
    }

    // The boxes have cost as much as listing all subsets would.
    void list_all() {
        const Items& items = relaxation_.items();
        const Form& form = relaxation_.form();
        std::uint64_t seen = 0;
        std::vector<Gram> one;
        for (int item : root_.open.point) one.push_back(items.gram(item));
        const auto add = [&](Gram& to, std::size_t i) {
            for (int e = 0; e < Gram::entries(items.columns); ++e) to.s[e] += one[i].s[e];
        };
        const auto look = [&](const Gram& sums, const Picks& picks) {
            if (relaxation_.promises(own(form, sums))) relaxation_.offer(units_of(items, picks));
            if (++seen % 4096 == 0) driver_->attend();
            return !control_.stopped() && !relaxation_.decided();
        };
        list_ways(root_.open, root_.need, options_.k_or_more, Gram{}, add, look);
        if (control_.stopped()) return;
        driver_->clear();
        listed_ = true;
    }

    Found answer() {
        Found a;
        a.inliers = relaxation_.best().subset;
        a.score = relaxation_.best().score;
        if (a.inliers.empty() && !options_.above) a.inliers = unscored_;
        a.unclear = relaxation_.unclear();
        if (driver_) {
            a.nodes = driver_->n_boxes();
            a.n_evaluations = driver_->n_evaluations();
        }
        const bool found = relaxation_.decided();
        const bool given_up = driver_ && driver_->too_many_boxes() && !listed_;
        const Standing standing = driver_ ? driver_->standing() : Standing{};
        const bool complete = !found && !relaxation_.too_many_unclear() &&
                              (relaxation_.no_value() || finished() ||
                               (standing.closed && !control_.stopped() && !given_up));
        a.decided = found || complete;
        a.status = complete ? Status::optimal : control_.status(Status::heuristic);
        a.bound = relaxation_.limit();
        if (complete) {
            const bool only_one = k_ == table_.units && !options_.above;
            a.bound = only_one ? a.score : relaxation_.bound({});
        } else if (!found && !standing.closed) {
            a.bound = relaxation_.bound(standing);
        }
        return a;
    }

    const Table& table_;
    const Options& options_;
    Control& control_;
    int k_;
    Relaxation relaxation_;
    std::optional<Driver<Relaxation>> driver_;
    Box root_;                   // of all rows
    std::vector<int> unscored_;  // the best subset when time was over before any was scored
    bool listed_ = false;
};

}  // namespace

Found search(const Table& table, const Options& options, Control& control) {
    return Search(table, options, control).run();
}

}  // namespace quadsweep::regression
