#include "search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

#include "best.hpp"
#include "plane/criteria/criteria.hpp"
#include "plane/tuning.hpp"
#include "plane/worker.hpp"
#include "search/driver.hpp"

namespace quadsweep::outofcore {
namespace {

// Leaves that are asked for.
class Wanted {
  public:
    Wanted(const Assembly& assembly, std::size_t leaves) : assembly_(assembly), asked_(leaves, 0) {}

    void ask(const std::vector<int>& cells) {
        const Lock lock(mutex_);
        for (int at : cells) {
            char& asked = asked_[assembly_.cell_leaf[at]];
            if (asked == 0) rows_ = rows_ + assembly_.cells.cell[at].weight;
            asked = 1;
        }
    }
    double rows() const { return rows_; }
    std::vector<std::int32_t> leaves() const {
        std::vector<std::int32_t> out;
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            if (asked_[i] != 0) out.push_back(static_cast<std::int32_t>(i));
        }
        return out;
    }

  private:
    const Assembly& assembly_;
    Mutex mutex_;
    std::vector<char> asked_;
    std::atomic<double> rows_{0};
};

// What all threads share, for the driver.
class Relaxation {
  public:
    using Box = quadsweep::Box;
    class Worker;

    Relaxation(const Assembly& with, std::size_t leaves, const Question& asked, double limit)
        : assembly(with), question(asked), best(with, asked, limit), wanted(with, leaves) {}

    const Cells& cells() const { return assembly.cells; }
    double k() const { return static_cast<double>(question.k); }

    // Concentration steps; what they cut is worth loading if it promises more than is known.
    double polish(const Moments& about, double worth) {
        double score = undefined;
        Selection found = climbed(cells(), question, about, score, worth);
        const double n_evaluations = found.n_evaluations;
        if (!(score > best.target() + best.margin()) || !best.varies(found.moments)) {
            return n_evaluations;
        }
        wanted.ask(found.cut);
        if (estimating) best.raise(score);
        if (question.until == Until::decided && !found.cut.empty()) promised = true;
        settle(std::move(found));
        return n_evaluations;
    }
    // The same selection with whole cells, which is a real one.
    void settle(Selection found) {
        if (!found.cut.empty()) {
            const auto gain = gain_about(question, found.moments, k());
            if (!gain) return;
            found = cheapest(cells(), loss(*gain), k(), Cut::whole);
        }
        best.offer(found);
    }

    bool finished() const {
        return wanted.rows() > question.most_rows || best.decided() || promised;
    }
    bool worth(double upper) const {
        return !best.at_limit() && !(upper <= best.target() + best.tol());
    }
    double bound(const Standing& standing) const {
        const double limit = std::max(best.limit(), best.score());
        if (best.at_limit() || !standing.valid) return limit;
        const double most = std::max(best.target() + best.tol(), standing.open);
        return std::min(most + 64 * 0x1p-52 * std::fabs(most), limit);
    }
    Progress progress(const Standing& standing) const {
        return {best.target(), bound(standing), 0, 0};
    }

    const Assembly& assembly;
    const Question& question;
    Best best;
    Wanted wanted;
    std::atomic<bool> promised{false};  // a threshold would be passed with rows that are not loaded
    bool estimating = false;            // the score to be beaten is an estimate
    std::unique_ptr<Criterion> criterion;
};

// One thread's look at a box: as in plane/worker.cpp, but a box may also be deferred.
class Relaxation::Worker : public CellWorker {
  public:
    explicit Worker(Relaxation& r)
        : CellWorker(r.cells(), *r.criterion, r.question.k_or_more, 1), r_(r) {}

    bool aim() { return CellWorker::aim(r_.best.target()); }
    Ending bound(Box& box) {
        const Ending ending = close(box);
        by_unloaded_ = ending == Ending::deferred;
        return ending == Ending::closed ? ending : Ending::open;
    }
    // Cells that straddle the threshold count in part: their score promises a little too much.
    void propose(const Box& box) {
        const double k = r_.k(), worth = r_.best.target() + r_.best.margin();
        if (std::fabs(choice_.weight - k) > tuning::weight_doubt * k) return;
        const double about = score_of(r_.question, choice_.moments, choice_.weight);
        const double doubt =
            box.open.cell.empty() ? 0 : tuning::coarse_doubt * std::fabs(r_.best.target());
        const bool promises = about > worth + doubt;
        const double share = (promises ? 10 : 1) * tuning::explored_share;
        if (!promises && !(choice_.value < 0)) return;
        if (explored_ > share * n_evaluations() + tuning::explored_first) return;
        explored_ += r_.polish(rescaled(k), worth);
    }
    Ending fix(Box& box) {
        cut_ = bounder_.unloaded_and_cut(bound_);
        if (!decide_points(box)) return Ending::closed;
        if (by_unloaded_ && !cut_.empty()) return defer(cut_);
        in_points_ = wants_points(box);
        return Ending::open;
    }
    bool enumerate(Box& box) {
        constexpr std::int64_t listed = 200;
        const std::int64_t most = listed * (in_points_ ? tuning::stuck_listing : 1);
        const Slack slack = listing_slack(40.0 + cells_.roundings, box.need);
        return list(box, most, [&](const Moments& m, double kept, const Picks& picks) {
            const double top = most_of(r_.question, centred_range(m, kept, slack), kept);
            if (!(top <= r_.best.target() + r_.best.margin())) {
                r_.best.offer(chosen(cells_, box, picks));
            }
        });
    }
    Ending branch(std::unique_ptr<Box> box, Boxes& children) {
        const std::vector<int> unloaded = cut_.empty() ? box->open.cell : cut_;
        const bool done = CellWorker::branch(std::move(box), in_points_, children);
        return done ? Ending::open : defer(unloaded);
    }

  private:
    Ending defer(const std::vector<int>& cells) {
        r_.wanted.ask(cells);
        return Ending::deferred;
    }

    Relaxation& r_;
    bool by_unloaded_ = false;  // cells keep the box open, more than its width
    bool in_points_ = false;
    std::vector<int> cut_;  // cells whose rows would decide it
};

// No subset scores more, whatever is in the cells.
double natural_limit(const Question& question, const Cells& cells) {
    const Cell& all = cells.cell[0];
    const double up = 1 + 1e-12;
    if (question.product) {
        const auto half = [&](const Affine& f) {
            return std::fabs(f.x) * all.hx + std::fabs(f.y) * all.hy;
        };
        return half(question.product->f) * half(question.product->g) * up;
    }
    switch (question.objective) {
        case Objective::r2:
        case Objective::r:
            return 1;
        case Objective::cov:
            return all.hx * all.hy * up;
        case Objective::dv:
            return all.hx * all.hx * up;
        default:
            return 0;
    }
}

class Search {
  public:
    Search(const Assembly& assembly, std::size_t leaves, const Ranges& ranges,
           const Question& question, Control& control)
        : assembly_(assembly),
          ranges_(ranges),
          question_(question),
          control_(control),
          relaxation_(assembly, leaves, question, natural_limit(question, assembly.cells)),
          driver_(relaxation_,
                  {question.n_jobs, 0, infinity,
                   std::min(question.memory / 2, tuning::most_waiting), question.memory},
                  control) {}

    Found run(const std::vector<Moments>& starts, bool loaded) {
        if (question_.until == Until::proved) {
            begin(starts, loaded);
        } else {
            follow(starts);
        }
        if (best_.target() == undefined || !slopes_are_finite()) driver_.invalidate();
        best_.set_tolerance();
        while (question_.until != Until::begun && !best_.at_limit() && !driver_.halt()) {
            relaxation_.criterion = criterion_now();
            if (!relaxation_.criterion->valid()) {
                driver_.invalidate();
                break;
            }
            driver_.begin(roots());
            driver_.run();
            if (driver_.halt() || best_.tol() <= best_.tolerance()) break;
            best_.set_tolerance();
        }
        return answer();
    }

  private:
    // Estimates first, and what they cut. Without any rows a real subset is far from the best.
    void begin(const std::vector<Moments>& starts, bool loaded) {
        const double k = relaxation_.k();
        best_.set_tolerance();
        relaxation_.estimating = true;
        double estimate = undefined;
        std::vector<int> cut;
        for (const Moments& m : starts) {
            double score = undefined;
            Selection found = climbed(assembly_.cells, question_, times(k, m), score, undefined);
            if (!best_.varies(found.moments)) continue;
            if (score > estimate) {
                estimate = score;
                cut = found.cut;
            }
            if (score != undefined) relaxation_.settle(std::move(found));
        }
        // Starts that end in copies of one point have no correlation; any subset that has one will
        // do.
        const bool lost = estimate == undefined && is_correlation(question_.objective);
        if (lost) estimate = 0;
        relaxation_.estimating = !best_.real() || (!loaded && !cut.empty());
        relaxation_.wanted.ask(cut);
        if (relaxation_.estimating) best_.raise(estimate);
        best_.set_tolerance();
    }

    // Where the starts lead: the leaves that are cut there, and real subsets with whole ones. For a
    // threshold, leaves only where it would be passed.
    void follow(const std::vector<Moments>& starts) {
        std::vector<int> cut;
        for (const Moments& m : starts) {
            double score = undefined;
            Selection found =
                climbed(assembly_.cells, question_, times(relaxation_.k(), m), score, undefined);
            if (!best_.varies(found.moments)) continue;
            if (score > estimate_) {
                estimate_ = score;
                cut = found.cut;
            }
            if (score != undefined) relaxation_.settle(std::move(found));
        }
        const bool passes = estimate_ > question_.above && !best_.decided();
        if (!cut.empty() && passes) {
            relaxation_.wanted.ask(cut);
            relaxation_.promised = true;
        }
    }

    static Moments times(double k, const Moments& m) {
        return {k * m.x, k * m.y, k * m.xx, k * m.xy, k * m.yy};
    }

    std::unique_ptr<Criterion> criterion_now() const {
        if (question_.product) {
            const auto& [f, g] = *question_.product;
            return product_above(ranges_, best_.sums(), f, g, best_.target(), best_.tol());
        }
        return make_criterion(question_.objective, ranges_, best_.sums(), best_.target(),
                              best_.tol());
    }

    // Subsets all of whose x (or y) may coincide, for all that is known, have any slope.
    bool slopes_are_finite() const {
        const bool x = ranges_.a_least_positive > 0, y = ranges_.b_least_positive > 0;
        switch (question_.objective) {
            case Objective::r2:
            case Objective::r:
                return x && y;
            case Objective::lts:
                return x || ranges_.x_constant;
            default:
                return true;
        }
    }

    // k copies of one point have no correlation: keep fewer, and the bound sees it.
    Undecided everything() const {
        const Cells& cells = assembly_.cells;
        const bool correlation = is_correlation(question_.objective) && !question_.k_or_more;
        std::vector<int> heavy;
        for (int p = 0; correlation && p < cells.size(); ++p) {
            if (cells.weight[p] >= question_.k) heavy.push_back(p);
        }
        const auto holds_heavy = [&](const Cell& c) {
            const auto at = std::lower_bound(heavy.begin(), heavy.end(), c.first);
            return at != heavy.end() && *at < c.last;
        };
        Undecided open;
        std::vector<int> level{0}, finer;
        while (!level.empty()) {
            const bool enough = level.size() + open.cell.size() >= tuning::root_cells;
            finer.clear();
            for (int at : level) {
                const Cell& c = cells.cell[at];
                if (!c.leaf() && (!enough || holds_heavy(c))) {
                    finer.insert(finer.end(), {c.left, c.left + 1});
                } else if (c.leaf() && holds_heavy(c)) {
                    for (int p = c.first; p < c.last; ++p) {
                        open.point.push_back(p);
                        open.copies.push_back(static_cast<int>(
                            std::min<std::int64_t>(cells.weight[p], question_.k - 1)));
                    }
                } else {
                    open.cell.push_back(at);
                }
            }
            level.swap(finer);
        }
        return open;
    }

    Boxes roots() const {
        const Undecided open = everything();
        Boxes boxes;
        for (Box& root : relaxation_.criterion->roots()) {
            boxes.push_back(std::make_unique<Box>(std::move(root)));
            boxes.back()->open = open;
            boxes.back()->need = question_.k;
        }
        return boxes;
    }

    Found answer() {
        Found a;
        a.real = best_.real();
        const Standing standing = driver_.standing();
        const bool shut =
            standing.valid && standing.closed && standing.deferred == undefined && !driver_.halt();
        a.nodes = driver_.n_boxes();
        a.bound = relaxation_.bound(standing);
        a.score = a.real ? best_.score() : best_.target();
        a.moments = best_.moments();
        const bool closed = shut && best_.target() == best_.score();
        const bool top = best_.at_limit() && !relaxation_.estimating;
        const bool fine = best_.tol() <= best_.tolerance();
        const bool proved = a.real && best_.sure() && fine && (closed || top);
        a.status = proved ? Status::optimal : control_.status(Status::heuristic);
        a.estimate = estimate_;
        if (question_.until == Until::decided) a.refuted = !a.real && (shut || best_.at_limit());
        if (a.status != Status::optimal) a.wanted = relaxation_.wanted.leaves();
        if (a.real) fill(a);
        return a;
    }

    void fill(Found& a) const {
        const Cells& cells = assembly_.cells;
        std::vector<int> open = best_.selection().cells;
        const auto keep = [&](int p, int copies) {
            if (assembly_.point_leaf[p] >= 0) {
                a.copies.emplace_back(assembly_.point_leaf[p], copies);
            } else {
                for (int i : cells.members(p).first(copies)) a.rows.push_back(i);
            }
        };
        while (!open.empty()) {
            const int at = open.back();
            const Cell& c = cells.cell[at];
            open.pop_back();
            if (!c.leaf()) {
                open.insert(open.end(), {c.left, c.left + 1});
            } else if (assembly_.cell_leaf[at] >= 0) {
                a.leaves.push_back(assembly_.cell_leaf[at]);
            } else {
                for (int p = c.first; p < c.last; ++p) keep(p, cells.weight[p]);
            }
        }
        for (const auto [p, copies] : best_.selection().points) keep(p, copies);
        std::sort(a.leaves.begin(), a.leaves.end());
        std::sort(a.rows.begin(), a.rows.end());
    }

    const Assembly& assembly_;
    const Ranges ranges_;
    const Question& question_;
    Control& control_;
    Relaxation relaxation_;
    Driver<Relaxation> driver_;
    Best& best_ = relaxation_.best;
    double estimate_ = undefined;
};

}  // namespace

LoadedPartition::LoadedPartition(const Partition& partition, std::span<const Leaf> table,
                                 const Loaded& loaded, int n_jobs)
    : table_(table.begin(), table.end()),
      assembly_(assemble(partition, table, loaded, n_jobs)),
      loaded_(!loaded.leaf.empty()) {}

Ranges LoadedPartition::ranges(const Question& q) const {
    return outer_ranges(table_, static_cast<double>(q.k), q.gap_x, q.gap_y);
}

// Exact: nothing but signs.
void LoadedPartition::mirror() {
    const auto turn = [](Moments& m) {
        m.y = -m.y;
        m.xy = -m.xy;
    };
    for (Leaf& leaf : table_) {
        std::swap(leaf.y_lo, leaf.y_hi);
        leaf.y_lo = -leaf.y_lo;
        leaf.y_hi = -leaf.y_hi;
        turn(leaf.sums);
        turn(leaf.lost);
    }
    for (Cell& cell : assembly_.cells.cell) {
        cell.y = -cell.y;
        turn(cell.sums);
    }
    for (double& y : assembly_.cells.y) y = -y;
    mirrored_ = !mirrored_;
}

Found LoadedPartition::search(const Question& question, const std::vector<Moments>& starts,
                              bool mirrored, Control& control) {
    if (mirrored != mirrored_) mirror();
    const Ranges known = question.until == Until::begun ? Ranges{} : ranges(question);
    return Search(assembly_, table_.size(), known, question, control).run(starts, loaded_);
}

}  // namespace quadsweep::outofcore
