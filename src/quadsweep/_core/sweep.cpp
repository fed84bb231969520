// The best separable subset in n^d log n, by turning pencils of hyperplanes.
//
// A strictly separable k-subset I is a cell {w : w.h > 0 on I, < 0 off I} of an arrangement in r
// dimensions, r the rank of the homogeneous points h. On an extreme ray w of the cell the points
// Z = {w.h = 0} have rank r - 1 and I = (one open side of w) + some subset of Z. So it is enough to
// look at every plane through r - 1 independent points and at the subsets of Z of the right size.
//
// For every T of r - 2 points the planes through T form a pencil. Two coordinates (p, q) are left
// of each point after eliminating T; its plane is met at the angle of (p, q) modulo pi. Sort the
// angles, turn once: the side of a point changes when it is passed. In general position Z = T +
// {j}, scored when j is the largest index of Z.
//
// Ties: points whose (p, q) is zero within rounding, or whose angles agree within rounding, go to Z
// together. That can only add candidates. All subsets of Z of the right size are listed if they are
// few; otherwise I restricted to Z is itself strictly separable among Z, and Z is swept in turn,
// with fewer points or in a lower rank. Of coincident points any will do: their scores are equal.
#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "lifted.hpp"
#include "methods.hpp"
#include "parallel.hpp"
#include "subset_table.hpp"

namespace quadsweep {
namespace {

constexpr double most_listed = 1000;  // subsets of Z; beyond, Z is swept

// How many subsets, at most `most` + 1.
double subsets_up_to(int n, int m, double most) {
    double count = 1;
    for (int i = 0; i < std::min(m, n - m) && count <= most; ++i) count = count * (n - i) / (i + 1);
    return count;
}

// One worker's incumbent and what all candidates are screened with.
class Jury {
  public:
    Jury(const Problem& problem, Control& control, bool attends)
        : problem_(problem), control_(control), attends_(attends) {
        for (int i = 0; i < problem.size(); ++i) {
            single_.emplace_back();
            single_.back().add(problem.points.x[i], problem.points.y[i]);
        }
        slack_.rel = (problem.size() + 16) * 0x1p-52;  // sums without subtraction
    }

    Incumbent best;
    std::uint64_t planes = 0;

    const Moments& single(int i) const { return single_[i]; }

    bool any_may_win(const MomentTable& table, const Moments& base) const {
        const auto screen = hot_loops().screen[static_cast<int>(problem_.objective)];
        return screen(table, base, problem_.k, slack_, best.score) > 0;
    }
    bool may_win(const Moments& s) const {
        return !(optimistic(problem_.objective, centred_range(s, problem_.k, slack_), problem_.k) <
                 best.score);
    }
    void score(std::vector<int>& subset) {
        std::sort(subset.begin(), subset.end());
        best.offer(accurate_score(problem_.points, subset, problem_.objective), subset);
    }
    bool halted() {
        if (!attends_) return control_.stopped();
        return control_.attend([&] { return Progress{best.score, infinity, planes, 0}; });
    }

  private:
    const Problem& problem_;
    Control& control_;
    bool attends_;
    Slack slack_;
    std::vector<Moments> single_;
};

using Indices = std::vector<int>;

void choose_from(Jury& jury, const Coordinates& all, int rank, const Indices& ids,
                 const Indices& base, const Indices& tied, int m);

// The planes through r - 1 of some points, `missing` of which are to be added to the points of
// `base`. Positions here are local; `ids` says which points of the problem they are.
class Arrangement {
  public:
    Arrangement(Jury& jury, Coordinates top, Indices ids, Indices base, int missing)
        : jury_(jury),
          n_(top.n),
          rank_(top.width),
          missing_(missing),
          ids_(std::move(ids)),
          base_(std::move(base)),
          levels_(rank_ - 1),
          table_(rank_ - 2),
          key_(n_),
          reach_(n_),
          positive_(n_),
          order_(n_) {
        levels_[0] = std::move(top);
        for (int i : base_) base_moments_ += jury_.single(i);
    }

    // Pencils are told apart by the first two points of T, or as many as there are.
    std::int64_t tasks() const {
        if (rank_ == 2) return 1;
        return rank_ == 3 ? n_ - 1 : static_cast<std::int64_t>(n_) * n_;
    }
    bool run(std::int64_t task) {
        T_.clear();
        if (rank_ == 2) {
            turn();
        } else if (rank_ == 3) {
            step(static_cast<int>(task));
        } else {
            run_pair(static_cast<int>(task / n_), static_cast<int>(task % n_));
        }
        return !jury_.halted();
    }
    void run_all() {
        for (std::int64_t task = 0; task < tasks(); ++task) {
            if (!run(task)) return;
        }
    }

  private:
    // Consecutive positions in the order of angles that cannot be told apart.
    struct Group {
        int begin, end;
        double left, right;
    };
    struct Event {
        int at, ahead;  // position in the order; points on the positive side
        Moments passed[2];
    };

    void run_pair(int first, int second) {
        if (first >= second || second > n_ - 2) return;
        if (first != eliminated_first_) {
            eliminated_first_ = first;
            first_is_independent_ = eliminate(levels_[0], first, levels_[1]);
        }
        if (!first_is_independent_) return;
        T_.push_back(first);
        step(second);
        T_.pop_back();
    }

    // Adds t to T, then every larger index in turn. The largest point is left to be met.
    void step(int t) {
        const auto level = T_.size();
        if (jury_.halted() || !eliminate(levels_[level], t, levels_[level + 1])) return;
        T_.push_back(t);
        if (static_cast<int>(T_.size()) == rank_ - 2) {
            turn();
        } else {
            for (int next = t + 1; next < n_ - 1; ++next) step(next);
        }
        T_.pop_back();
    }

    void turn() {
        zeros_.clear();
        find_angles();
        if (zeros_.empty() && all_apart()) {
            turn_in_general_position();
        } else {
            turn_with_ties();
        }
    }

    // key rises from -1 to 3 as the direction turns by pi: p/q, then 2 - q/p where |p| > |q|.
    void find_angles() {
        const Coordinates& last = levels_[rank_ - 2];
        const double *p = last.column(0), *q = last.column(1), *error = last.error.data();
        for (int i = 0; i < n_; ++i) {
            const bool steep = std::fabs(p[i]) > std::fabs(q[i]);
            const double den = steep ? p[i] : q[i], num = steep ? q[i] : p[i];
            const double ratio = num / den;
            key_[i] = steep ? 2 - ratio : ratio;
            reach_[i] = 3 * error[i] / std::fabs(den) + 0x1p-50;
            positive_[i] = den > 0;
        }
        for (int t : T_) key_[t] = infinity;
        met_ = 0;
        for (int i = 0; i < n_; ++i) {
            if (key_[i] == infinity) continue;
            if (reach_[i] < 0.01) {
                order_[met_++] = i;
            } else {
                zeros_.push_back(i);
            }
        }
        std::sort(order_.begin(), order_.begin() + met_,
                  [&](int i, int j) { return key_[i] < key_[j]; });
    }

    bool all_apart() const {
        if (met_ == 0) return false;
        for (int e = 1; e < met_; ++e) {
            const int i = order_[e - 1], j = order_[e];
            if (!(key_[j] - key_[i] > reach_[i] + reach_[j])) return false;
        }
        const int i = order_[met_ - 1], j = order_[0];
        return met_ == 1 || key_[j] + 4 - key_[i] > reach_[i] + reach_[j];
    }

    bool possible(int side) const { return side <= missing_ && missing_ - side <= rank_ - 1; }

    // A point is on the positive side after it is passed if it is `positive_`, before if it is not.
    void turn_in_general_position() {
        const int largest = T_.empty() ? -1 : T_.back();
        events_.clear();
        int ahead = 0;
        for (int e = 0; e < met_; ++e) ahead += !positive_[order_[e]];
        for (int e = 0; e < met_; ++e) {
            const int j = order_[e];
            ahead -= !positive_[j];
            if (j > largest) {
                ++jury_.planes;
                if (possible(ahead) || possible(met_ - 1 - ahead))
                    events_.push_back({e, ahead, {}});
            }
            ahead += positive_[j];
        }
        if (!events_.empty()) score_events();
    }

    void score_events() {
        table_.fill([&](int b) -> const Moments& { return jury_.single(ids_[T_[b]]); });
        Moments passed[2] = {base_moments_, base_moments_};
        int e = 0;
        for (Event& event : events_) {
            for (; e < event.at; ++e) passed[positive_[order_[e]]] += jury_.single(ids_[order_[e]]);
            event.passed[0] = passed[0];
            event.passed[1] = passed[1];
        }
        Moments coming[2];
        e = met_ - 1;
        for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
            for (; e > event->at; --e)
                coming[positive_[order_[e]]] += jury_.single(ids_[order_[e]]);
            score_side(*event, true, event->ahead, event->passed[1] + coming[0]);
            score_side(*event, false, met_ - 1 - event->ahead, event->passed[0] + coming[1]);
        }
    }

    // One side with every subset of T + {j} that makes it k points.
    void score_side(const Event& event, bool ahead, int count, const Moments& side) {
        if (!possible(count)) return;
        const int m = missing_ - count;
        const Moments with_j = side + jury_.single(ids_[order_[event.at]]);
        if (m < table_.sizes() && jury_.any_may_win(table_.view(m), side))
            score_rows(event, ahead, m, side, false);
        if (m > 0 && jury_.any_may_win(table_.view(m - 1), with_j))
            score_rows(event, ahead, m - 1, with_j, true);
    }

    void score_rows(const Event& event, bool ahead, int size, const Moments& base, bool with_j) {
        for (int row = table_.begin(size); row < table_.end(size); ++row) {
            if (!jury_.may_win(base + table_.moments(row))) continue;
            subset_ = base_;
            for (int e = 0; e < met_; ++e) {
                const int i = order_[e];
                if (e != event.at && ((positive_[i] == 1) == (e < event.at)) == ahead)
                    subset_.push_back(ids_[i]);
            }
            if (with_j) subset_.push_back(ids_[order_[event.at]]);
            for (std::size_t b = 0; b < T_.size(); ++b) {
                if (table_.members(row) >> b & 1) subset_.push_back(ids_[T_[b]]);
            }
            jury_.score(subset_);
        }
    }

    void turn_with_ties() {
        groups_.clear();
        for (int e = 0; e < met_; ++e) {
            const double key = key_[order_[e]], reach = reach_[order_[e]];
            Group group{e, e + 1, key - reach, key + reach};
            while (!groups_.empty() && groups_.back().right >= group.left) {
                group.begin = groups_.back().begin;
                group.left = std::fmin(group.left, groups_.back().left);
                group.right = std::fmax(group.right, groups_.back().right);
                groups_.pop_back();
            }
            groups_.push_back(group);
        }
        const bool wraps = groups_.size() > 1 && groups_.front().left + 4 <= groups_.back().right;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const bool last = g + 1 == groups_.size();
            if (wraps && last) continue;
            Indices tied(order_.begin() + groups_[g].begin, order_.begin() + groups_[g].end);
            if (wraps && g == 0) {
                tied.insert(tied.end(), order_.begin() + groups_.back().begin,
                            order_.begin() + groups_.back().end);
            }
            meet(groups_[g], wraps && g == 0 ? groups_.back().begin : met_, tied);
            if (jury_.halted()) return;
        }
    }

    // The plane through T and the points of a group; positions from `end` on belong to it too.
    void meet(const Group& group, int end, Indices tied) {
        const int largest = T_.empty() ? -1 : T_.back();
        if (tied.size() == 1 && zeros_.empty() && tied[0] < largest) return;
        const bool alone = tied.size() == 1 && zeros_.empty();
        tied.insert(tied.end(), zeros_.begin(), zeros_.end());
        tied.insert(tied.end(), T_.begin(), T_.end());
        std::sort(tied.begin(), tied.end());
        if (!alone && !seen_.insert(tied).second) return;
        ++jury_.planes;
        Indices sides[2];
        const bool wrapped = group.begin == 0 && end < met_;
        for (int e = 0; e < end; ++e) {
            if (e >= group.begin && e < group.end) continue;
            const bool passed = !wrapped && e < group.begin;
            sides[(positive_[order_[e]] == 1) == passed].push_back(ids_[order_[e]]);
        }
        for (Indices& side : sides) {
            const int m = missing_ - static_cast<int>(side.size());
            if (m < 0 || m > std::ssize(tied)) continue;
            side.insert(side.end(), base_.begin(), base_.end());
            choose_from(jury_, levels_[0], rank_, ids_, side, tied, m);
        }
    }

    Jury& jury_;
    int n_, rank_, missing_;
    Indices ids_, base_;
    Moments base_moments_;
    std::vector<Coordinates> levels_;  // after eliminating 0, 1, ... points of T
    SubsetTable table_;                // of T
    Indices T_, zeros_, subset_;
    std::vector<double> key_, reach_;  // reach: how far the true key may be
    std::vector<std::uint8_t> positive_;
    Indices order_;
    int met_ = 0;
    std::vector<Event> events_;
    std::vector<Group> groups_;
    std::set<Indices> seen_;
    int eliminated_first_ = -1;
    bool first_is_independent_ = false;
};

// Every way to add m of the tied points, one after another.
class Listing {
  public:
    Listing(Jury& jury, const Indices& base, const Indices& tied) : jury_(jury), tied_(tied) {
        subset_ = base;
        for (int i : base) moments_ += jury_.single(i);
    }
    void run(int m) { add(0, m, moments_); }

  private:
    void add(std::size_t from, int m, const Moments& s) {
        if (m == 0) {
            if (!jury_.may_win(s)) return;
            Indices sorted = subset_;
            jury_.score(sorted);
            return;
        }
        if (m > 4 && jury_.halted()) return;
        for (std::size_t i = from; i + m <= tied_.size(); ++i) {
            subset_.push_back(tied_[i]);
            add(i + 1, m - 1, s + jury_.single(tied_[i]));
            subset_.pop_back();
        }
    }

    Jury& jury_;
    const Indices& tied_;
    Indices subset_;
    Moments moments_;
};

// Candidates `base` + m of the tied points, every separable choice among them included.
void choose_from(Jury& jury, const Coordinates& all, int rank, const Indices& ids,
                 const Indices& base, const Indices& tied, int m) {
    Indices points;
    for (int i : tied) points.push_back(ids[i]);
    const int count = static_cast<int>(tied.size());
    if (subsets_up_to(count, m, most_listed) <= most_listed) {
        Listing(jury, base, points).run(m);
        return;
    }
    Coordinates own = independent_columns(rows_of(all, tied));
    if (own.width <= 1) {
        Indices subset = base;
        subset.insert(subset.end(), points.begin(), points.begin() + m);
        jury.score(subset);
    } else if (own.width < rank || count < all.n) {
        scale_points(own);
        Arrangement(jury, std::move(own), points, base, m).run_all();
    } else {
        Listing(jury, base, points).run(m);
    }
}

Indices first_indices(int n) {
    Indices all(n);
    for (int i = 0; i < n; ++i) all[i] = i;
    return all;
}

}  // namespace

Answer sweep_lifted(const Problem& problem, const Coordinates& lifted, Control& control) {
    Coordinates top = independent_columns(lifted);
    const int n = problem.size(), rank = top.width;
    if (n <= rank || problem.k == n) return exhaustive(problem, control);
    scale_points(top);
    const Indices all = first_indices(n);
    const int workers = std::max(problem.n_jobs, 1);
    std::vector<std::unique_ptr<Jury>> juries;
    for (int w = 0; w < workers; ++w)
        juries.push_back(std::make_unique<Jury>(problem, control, w == 0));
    if (rank == 1) {
        choose_from(*juries[0], top, rank, all, {}, all, problem.k);
    } else {
        std::vector<std::unique_ptr<Arrangement>> arrangements;
        for (int w = 0; w < workers; ++w) {
            arrangements.push_back(
                std::make_unique<Arrangement>(*juries[w], top, all, Indices{}, problem.k));
        }
        parallel_for(workers, arrangements[0]->tasks(), [&](int worker, std::int64_t task) {
            return arrangements[worker]->run(task);
        });
    }

    Answer answer;
    Incumbent best;
    for (const auto& jury : juries) {
        best.merge(jury->best);
        answer.nodes += jury->planes;
    }
    answer.inliers = best.subset;
    answer.score = best.score;
    answer.bound = trivial_bound(problem);
    answer.status = control.status(Status::best_separable);
    return answer;
}

Answer sweep(const Problem& problem, Control& control) {
    return sweep_lifted(problem, natural_lift(problem.points, problem.objective), control);
}

}  // namespace quadsweep
