#include "search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

#include "best.hpp"
#include "plane/bound.hpp"
#include "plane/branching.hpp"
#include "plane/closing.hpp"
#include "plane/criteria/criteria.hpp"
#include "plane/frontier.hpp"
#include "plane/opener.hpp"
#include "plane/tuning.hpp"
#include "shared/parallel.hpp"

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

// What all threads share.
struct Shared {
    const Assembly& assembly;
    const Question& question;
    Best& best;
    Wanted& wanted;
    std::atomic<bool>& promised;  // a threshold would be passed with rows that are not loaded
    bool estimating = false;      // the score to be beaten is one

    const Cells& cells() const { return assembly.cells; }
    double k() const { return static_cast<double>(question.k); }

    // Concentration steps; what they cut is worth loading if it promises more than is known.
    double polish(const Moments& about, double worth) const {
        double score = undefined;
        Selection found = climbed(cells(), question, about, score, worth);
        const double looked_at = found.looked_at;
        if (!(score > best.target() + best.margin()) || !best.varies(found.moments)) {
            return looked_at;
        }
        wanted.ask(found.cut);
        if (estimating) best.raise(score);
        if (question.until == Until::decided && !found.cut.empty()) promised = true;
        settle(std::move(found));
        return looked_at;
    }
    // The same selection with whole cells, which is a real one.
    void settle(Selection found) const {
        if (!found.cut.empty()) {
            const auto gain = gain_about(question, found.moments, k());
            if (!gain) return;
            found = cheapest(cells(), loss(*gain), k(), Cut::whole);
        }
        best.offer(found);
    }
};

// One thread's tools for looking at boxes: plane/worker.hpp, but a box may also be parked.
class Worker {
  public:
    Worker(const Shared& shared, const Criterion& criterion)
        : s_(shared),
          criterion_(criterion.clone()),
          bounder_(shared.cells(), shared.question.at_most) {}

    enum class End { invalid, done, parked };
    End process(std::unique_ptr<Box> box, Boxes& children, double& upper) {
        criterion_->aim(s_.best.target());
        if (!criterion_->valid()) return End::invalid;
        if (s_.best.at_limit() || box->upper <= s_.best.target() + s_.best.tol()) return End::done;
        Choice choice;
        Bound bound;
        const Ending ending = Opener(*criterion_, bounder_).close(*box, choice, bound);
        if (ending == Ending::closed) return End::done;
        propose(*box, choice);
        const double value = bound.least() - bound.error;
        upper = box->upper = std::min(box->upper, criterion_->upper(*box, value));
        box->priority = value;
        const Choice worst = bounder_.chosen_at_worst(bound);
        const std::vector<int> cut = bounder_.sealed_and_cut(bound);
        if (!bounder_.fix(*box, bound)) return End::done;
        if (ending == Ending::sealed && !cut.empty()) return park(cut);
        const bool in_points =
            wants_points(*box, *criterion_, s_.cells(), choice.value, worst, bound);
        if (list(*box, in_points ? tuning::stuck_listing : 1)) return End::done;
        if (!in_points) {
            split(std::move(box), *criterion_, worst, children);
        } else if (box->open.cell.empty()) {
            branch_on_copies(std::move(box), *criterion_, s_.cells(), children);
        } else {
            const auto before = box->open.cell;
            bounder_.open_level(*box);
            if (box->open.cell == before) return park(cut.empty() ? before : cut);
            children.push_back(std::move(box));
        }
        return End::done;
    }
    double looked_at() const { return bounder_.looked_at; }

  private:
    End park(const std::vector<int>& cells) const {
        s_.wanted.ask(cells);
        return End::parked;
    }

    // Cells that straddle the threshold count in part: their score promises a little too much.
    void propose(const Box& box, const Choice& choice) {
        const double k = s_.k(), worth = s_.best.target() + s_.best.margin();
        if (std::fabs(choice.weight - k) > tuning::weight_doubt * k) return;
        const double about = score_of(s_.question, choice.moments, choice.weight);
        const double doubt =
            box.open.cell.empty() ? 0 : tuning::coarse_doubt * std::fabs(s_.best.target());
        const bool promises = about > worth + doubt;
        const double share = (promises ? 10 : 1) * tuning::explored_share;
        if (!promises && !(choice.value < 0)) return;
        if (explored_ > share * bounder_.looked_at + tuning::explored_first) return;
        const double f = k / choice.weight;
        const Moments& m = choice.moments;
        explored_ += s_.polish({f * m.x, f * m.y, f * m.xx, f * m.xy, f * m.yy}, worth);
    }

    bool list(Box& box, std::int64_t times) {
        const Cells& cells = s_.cells();
        double weight = 0;
        for (int at : box.open.cell) weight += cells.cell[at].weight;
        if (weight > tuning::listable_copies) return false;
        bounder_.open_all(box);
        if (!box.open.cell.empty()) return false;
        const std::int64_t most = 200 * times;
        const bool at_most = s_.question.at_most;
        if (ways(box.open, box.need, at_most, most) > most) return false;
        const auto need = static_cast<double>(std::max<std::int64_t>(box.need, 64));
        Slack slack{(40.0 + cells.roundings + need) * 0x1p-52};
        slack.xx = slack.xy = slack.yy = least_square;
        const auto look = [&](const Moments& m, double kept, const Picks& picks) {
            const double top = most_of(s_.question, centred_range(m, kept, slack), kept);
            if (!(top <= s_.best.target() + s_.best.margin())) {
                s_.best.offer(chosen(cells, box, picks));
            }
        };
        Lister(box, cells, at_most, look).run();
        return true;
    }

    const Shared& s_;
    std::unique_ptr<Criterion> criterion_;
    Bounder bounder_;
    double explored_ = 0;
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
          best_(assembly, question, natural_limit(question, assembly.cells)),
          wanted_(assembly, leaves),
          shared_{assembly, question, best_, wanted_, promised_},
          frontier_(std::min(question.memory / 2, tuning::most_waiting)) {}

    Found run(const std::vector<Moments>& starts, bool loaded) {
        if (question_.until == Until::proved) {
            begin(starts, loaded);
        } else {
            follow(starts);
        }
        valid_ = best_.target() != undefined && slopes_are_finite();
        best_.set_tolerance();
        while (valid_ && question_.until != Until::begun && !best_.at_limit() && !halt()) {
            const auto criterion = criterion_now();
            valid_ = criterion->valid();
            if (!valid_) break;
            grow_roots(*criterion);
            explore(*criterion);
            if (halt() || best_.tol() <= best_.tolerance()) break;
            best_.set_tolerance();
        }
        return answer();
    }

  private:
    // Estimates first, and what they cut. Without any rows a real subset is far from the best.
    void begin(const std::vector<Moments>& starts, bool loaded) {
        const double k = shared_.k();
        best_.set_tolerance();
        shared_.estimating = true;
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
            if (score != undefined) shared_.settle(std::move(found));
        }
        // Starts that end in copies of one point have no correlation; any subset that has one will
        // do.
        const bool lost = estimate == undefined && is_correlation(question_.objective);
        if (lost) estimate = 0;
        shared_.estimating = !best_.real() || (!loaded && !cut.empty());
        wanted_.ask(cut);
        if (shared_.estimating) best_.raise(estimate);
        best_.set_tolerance();
    }

    // Where the starts lead: the leaves that are cut there, and real subsets with whole ones. For a
    // threshold, leaves only where it would be passed.
    void follow(const std::vector<Moments>& starts) {
        std::vector<int> cut;
        for (const Moments& m : starts) {
            double score = undefined;
            Selection found =
                climbed(assembly_.cells, question_, times(shared_.k(), m), score, undefined);
            if (!best_.varies(found.moments)) continue;
            if (score > estimate_) {
                estimate_ = score;
                cut = found.cut;
            }
            if (score != undefined) shared_.settle(std::move(found));
        }
        const bool passes = estimate_ > question_.above && !best_.decided();
        if (!cut.empty() && passes) {
            wanted_.ask(cut);
            promised_ = true;
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
        const bool correlation = is_correlation(question_.objective) && !question_.at_most;
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

    void grow_roots(const Criterion& criterion) {
        frontier_.clear();
        parked_ = undefined;
        const Undecided open = everything();
        for (Box& root : criterion.roots()) {
            auto box = std::make_unique<Box>(std::move(root));
            box->open = open;
            box->need = question_.k;
            frontier_.push(std::move(box));
        }
    }

    bool halt() const {
        return control_.stopped() || !valid_ || wanted_.rows() > question_.most_rows ||
               best_.decided() || promised_;
    }

    void explore(const Criterion& criterion) {
        held_.assign(question_.n_jobs, undefined);
        parallel_for(question_.n_jobs, question_.n_jobs, [&](int id, std::int64_t) {
            work(id, criterion);
            return true;
        });
    }

    void work(int id, const Criterion& criterion) {
        Worker mine(shared_, criterion);
        Boxes children;
        Lock lock(mutex_);
        for (;;) {
            while (frontier_.empty() && active_ > 0 && !halt()) {
                changed_.wait_for(lock, std::chrono::milliseconds(10));
                if (id == 0) attend(lock);
            }
            if (frontier_.empty() || halt()) break;
            auto box = frontier_.pop();
            double upper = held_[id] = box->upper;
            ++active_;
            lock.unlock();
            children.clear();
            auto end = Worker::End::done;
            or_else([&] { end = mine.process(std::move(box), children, upper); },
                    [&] { control_.interrupt(); });
            lock.lock();
            --active_;
            held_[id] = undefined;
            ++boxes_;
            if (end == Worker::End::invalid) valid_ = false;
            if (end == Worker::End::parked) parked_ = std::max(parked_, upper);
            for (auto& child : children) frontier_.push(std::move(child));
            if (frontier_.bytes() > question_.memory) control_.out_of_memory();
            changed_.notify_all();
            if (id == 0) attend(lock);
        }
        changed_.notify_all();
    }

    double open_bound() const {
        double open = std::max(frontier_.upper(), parked_);
        for (double upper : held_) open = std::max(open, upper);
        return open;
    }
    double bound() const {
        const double limit = std::max(best_.limit(), best_.score());
        if (best_.at_limit() || !valid_) return limit;
        const double most = std::max(best_.target() + best_.tol(), open_bound());
        return std::min(most + 64 * 0x1p-52 * std::fabs(most), limit);
    }

    // The callback may take its time: it runs outside.
    void attend(Lock& lock) {
        const Progress now{best_.target(), bound(), boxes_, 0};
        lock.unlock();
        control_.look([&] { return now; });
        lock.lock();
    }

    Found answer() {
        Found a;
        a.real = best_.real();
        a.nodes = boxes_;
        a.bound = bound();
        a.score = a.real ? best_.score() : best_.target();
        a.moments = best_.moments();
        const bool closed = valid_ && frontier_.empty() && parked_ == undefined && !halt() &&
                            best_.target() == best_.score();
        const bool top = best_.at_limit() && !shared_.estimating;
        const bool fine = best_.tol() <= best_.tolerance();
        const bool proved = a.real && best_.sure() && fine && (closed || top);
        a.status = proved ? Status::optimal : control_.status(Status::heuristic);
        a.estimate = estimate_;
        if (question_.until == Until::decided) {
            const bool shut = valid_ && frontier_.empty() && parked_ == undefined && !halt();
            a.refuted = !a.real && (shut || best_.at_limit());
        }
        if (a.status != Status::optimal) a.wanted = wanted_.leaves();
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
    Best best_;
    Wanted wanted_;
    std::atomic<bool> promised_{false};
    Shared shared_;
    std::atomic<bool> valid_{true};
    double estimate_ = undefined;

    Mutex mutex_;  // of all below
    Condition changed_;
    Frontier frontier_;
    std::vector<double> held_;
    double parked_ = undefined;  // no subset of a parked box scores more
    int active_ = 0;
    std::uint64_t boxes_ = 0;
};

}  // namespace

Ground::Ground(const Partition& partition, std::span<const Leaf> table, const Loaded& loaded,
               int n_jobs)
    : table_(table.begin(), table.end()),
      assembly_(assemble(partition, table, loaded, n_jobs)),
      loaded_(!loaded.leaf.empty()) {}

Ranges Ground::ranges(const Question& q) const {
    return outer_ranges(table_, static_cast<double>(q.k), q.gap_x, q.gap_y);
}

// Exact: nothing but signs.
void Ground::mirror() {
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

Found Ground::search(const Question& question, const std::vector<Moments>& starts, bool mirrored,
                     Control& control) {
    if (mirrored != mirrored_) mirror();
    const Ranges known = question.until == Until::begun ? Ranges{} : ranges(question);
    return Search(assembly_, table_.size(), known, question, control).run(starts, loaded_);
}

}  // namespace quadsweep::outofcore
