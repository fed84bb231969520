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
// {j}, scored in one of the pencils it is in.
//
// Ties: points whose (p, q) is zero within rounding, or whose angles agree within rounding, go to Z
// together. That can only add candidates. All subsets of Z of the right size are listed if they are
// few; otherwise I restricted to Z is itself strictly separable among Z, and Z is swept in turn,
// with fewer points or in a lower rank. Of coincident points any will do, their scores are equal:
// so what is listed is how many of each are kept. Where all points lie on one plane of the lift
// every subset is the limit of separable ones, and all are listed if they are few. And where no
// subset met has a value (each may be copies of one point) the best of all subsets is the answer.
#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "lifted.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "subset_table.hpp"

namespace quadsweep {
namespace {

constexpr double most_ways = 1000;  // subsets of Z; beyond, Z is swept
constexpr int few_met = 5;          // points met one by one, without sorting
constexpr int few_sorted = 64;      // angles sorted by counting the smaller ones

// Ways to choose m of groups of so many equal points each, at most `most` + 1.
double ways_up_to(const std::vector<int>& copies, int m, double most) {
    std::vector<double> ways(m + 1, 0.0);
    ways[0] = 1;
    for (int c : copies) {
        for (int s = m; s >= 1; --s) {
            for (int z = 1; z <= std::min(c, s); ++z) ways[s] += ways[s - z];
            ways[s] = std::min(ways[s], most + 1);
        }
    }
    return ways[m];
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
          key_((n_ + 7) / 8 * 8, infinity),
          reach_(n_),
          end_(n_),
          rank_of_(key_.size()),
          order_(n_ + 1),
          events_(n_ + 1) {
        levels_[0] = std::move(top);
        for (Met& m : few_) m.side.resize(n_);
        for (int i : ids_) {
            moments_.push_back(jury_.single(i));
            columns_.append(moments_.back());
        }
        for (int i : base_) base_moments_ += jury_.single(i);
        const int others = n_ - rank_ + 1;
        for (int ahead = 0; ahead <= others; ++ahead)
            wanted_.push_back(possible(ahead) || possible(others - ahead));
    }

    // Pencils are told apart by the first two points of T, or as many as there are.
    std::int64_t tasks() const {
        if (rank_ == 2) return 1;
        return rank_ == 3 ? n_ : static_cast<std::int64_t>(n_) * n_;
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
    struct Met {
        int point = 0, ahead = 0;
        std::vector<long long> side;
    };
    struct Event {
        int at, ahead;  // position in the order; points on the positive side
        Moments passed[2];
    };

    void run_pair(int first, int second) {
        if (first >= second) return;
        if (first != eliminated_first_) {
            eliminated_first_ = first;
            first_is_independent_ = eliminate(levels_[0], first, levels_[1]);
        }
        if (!first_is_independent_) return;
        T_.push_back(first);
        step(second);
        T_.pop_back();
    }

    // Adds t to T, then every larger index in turn.
    void step(int t) {
        const auto level = T_.size();
        T_.push_back(t);
        const bool whole = static_cast<int>(T_.size()) == rank_ - 2;
        if ((!whole || is_needed()) && !jury_.halted() &&
            eliminate(levels_[level], t, levels_[level + 1])) {
            if (whole) turn();
            for (int next = t + 1; !whole && next < n_; ++next) step(next);
        }
        T_.pop_back();
    }

    // A plane through P of r - 1 points is in r - 1 pencils and needs one of them. Let e of P have
    // even indices. The pencil without the largest of these serves if e is odd, the one without the
    // largest odd index if e is even: T then has an even number of even indices, and half of the
    // pencils are enough. Where e is even and P has no odd index, its largest is left out.
    int even_indices() const {
        int even = 0;
        for (int t : T_) even += t % 2 == 0;
        return even;
    }
    bool is_needed() const {
        const int even = even_indices();
        return even % 2 == 0 || even == std::ssize(T_);
    }
    void find_served() {
        limit_[0] = limit_[1] = -1;
        for (int t : T_) limit_[t % 2] = t;
        if (even_indices() % 2 == 1) limit_[1] = n_;
        served_ = 0;
        for (int c : {0, 1}) {
            for (int j = limit_[c] < 0 ? c : limit_[c] + 2; j < n_; j += 2) ++served_;
        }
    }
    bool serves(int j) const { return j > limit_[j % 2]; }

    // Where few points are to be met, meeting them one by one is cheaper than sorting.
    void turn() {
        find_served();
        if (served_ <= few_met && meet_one_by_one()) return;
        find_angles();
        if (zeros_.empty() && all_apart()) {
            turn_in_general_position();
        } else {
            turn_with_ties();
        }
    }

    PencilView pencil() const {
        const Coordinates& last = levels_[rank_ - 2];
        return {last.column(0), last.column(1), last.error.data(), n_};
    }

    // False, and nothing done, if a point beyond T and j may be on the plane.
    bool meet_one_by_one() {
        int met = 0;
        for (int j = 0; j < n_; ++j) {
            if (!serves(j)) continue;
            int hidden = 0;
            Met& m = few_[met++];
            m.point = j;
            m.ahead = hot_loops().sides(pencil(), j, m.side.data(), &hidden);
            if (hidden != rank_ - 1) return false;
        }
        if (met == 0) return true;
        table_.fill([&](int b) -> const Moments& { return moments_[T_[b]]; });
        jury_.planes += static_cast<std::uint64_t>(met);
        const int others = n_ - rank_ + 1;
        for (const Met& m : std::span(few_, met)) {
            if (!wanted_[m.ahead]) continue;
            Moments both[2];
            hot_loops().side_moments(columns_.view(), m.side.data(), both);
            const auto side = [&m](int i) { return m.side[i]; };
            score_side(m.point, 1, m.ahead, base_moments_ + both[1], side);
            score_side(m.point, 0, others - m.ahead, base_moments_ + both[0], side);
        }
        return true;
    }

    void find_angles() {
        hot_loops().angles(pencil(), key_.data(), reach_.data(), end_.data());
        for (int t : T_) {
            key_[t] = infinity;
            reach_[t] = 0;
        }
        zeros_.clear();
        int unclear = 0;
        for (int i = 0; i < n_; ++i) unclear += !(reach_[i] < 0.01);
        for (int i = 0; unclear > 0 && i < n_; ++i) {
            if (reach_[i] < 0.01) continue;
            zeros_.push_back(i);
            key_[i] = infinity;
        }
        met_ = n_ - static_cast<int>(T_.size() + zeros_.size());
        sort_angles();
    }

    void sort_angles() {
        if (n_ <= few_sorted) {
            hot_loops().ranks(key_.data(), static_cast<int>(key_.size()), rank_of_.data());
            // Infinite keys all have rank met_ and end up behind the others.
            long long sum = 0;
            for (int i = 0; i < n_; ++i) {
                order_[rank_of_[i]] = i;
                sum += rank_of_[i];
            }
            // Equal keys have equal ranks, which makes the sum too small.
            const long long met = met_;
            if (sum == met * (met - 1) / 2 + (n_ - met) * met) return;
        }
        for (int i = 0, e = 0; i < n_; ++i) {
            if (key_[i] != infinity) order_[e++] = i;
        }
        std::sort(order_.begin(), order_.begin() + met_,
                  [&](int i, int j) { return key_[i] < key_[j]; });
    }

    bool all_apart() const {
        if (met_ == 0) return false;
        int close = 0;
        double key = key_[order_[0]], reach = reach_[order_[0]];
        const double first_key = key, first_reach = reach;
        for (int e = 1; e < met_; ++e) {
            const double next = key_[order_[e]], next_reach = reach_[order_[e]];
            close += !(next - key > reach + next_reach);
            key = next;
            reach = next_reach;
        }
        return close == 0 && (met_ == 1 || first_key + 4 - key > first_reach + reach);
    }

    bool possible(int side) const { return side <= missing_ && missing_ - side <= rank_ - 1; }

    // A point of end 1 is on side 1 after it is passed, one of end 0 before.
    void turn_in_general_position() {
        std::size_t found = 0;
        int ahead = 0;
        for (int e = 0; e < met_; ++e) ahead += end_[order_[e]] == 0;
        for (int e = 0; e < met_; ++e) {
            const int j = order_[e];
            const int end = static_cast<int>(end_[j]);
            ahead -= 1 - end;
            events_[found].at = e;
            events_[found].ahead = ahead;
            found += serves(j) & (wanted_[ahead] != 0);
            ahead += end;
        }
        jury_.planes += static_cast<std::uint64_t>(served_);
        if (found > 0) score_events({events_.data(), found});
    }

    void score_events(std::span<Event> events) {
        table_.fill([&](int b) -> const Moments& { return moments_[T_[b]]; });
        Moments passed[2] = {base_moments_, base_moments_};
        int e = 0;
        for (Event& event : events) {
            for (; e < event.at; ++e) passed[end_[order_[e]]] += moments_[order_[e]];
            event.passed[0] = passed[0];
            event.passed[1] = passed[1];
        }
        Moments coming[2];
        e = met_ - 1;
        for (auto event = events.rbegin(); event != events.rend(); ++event) {
            for (; e > event->at; --e) coming[end_[order_[e]]] += moments_[order_[e]];
            const int j = order_[event->at];
            const auto side = [&](int i) {
                if (i == j || key_[i] == infinity) return -1LL;
                return key_[i] < key_[j] ? end_[i] : 1 - end_[i];
            };
            score_side(j, 1, event->ahead, event->passed[1] + coming[0], side);
            score_side(j, 0, met_ - 1 - event->ahead, event->passed[0] + coming[1], side);
        }
    }

    // The points on one side of the plane through T and j, with every subset of these that makes
    // them k points.
    template <class Side>
    void score_side(int j, long long which, int count, const Moments& there, const Side& side) {
        if (!possible(count)) return;
        const int m = missing_ - count;
        if (m < table_.sizes() && jury_.any_may_win(table_.view(m), there))
            score_rows(j, false, which, m, there, side);
        if (m == 0) return;
        const Moments with_j = there + moments_[j];
        if (jury_.any_may_win(table_.view(m - 1), with_j))
            score_rows(j, true, which, m - 1, with_j, side);
    }

    template <class Side>
    void score_rows(int j, bool with_j, long long which, int size, const Moments& base,
                    const Side& side) {
        for (int row = table_.begin(size); row < table_.end(size); ++row) {
            if (!jury_.may_win(base + table_.moments(row))) continue;
            subset_ = base_;
            for (int i = 0; i < n_; ++i) {
                if (side(i) == which) subset_.push_back(ids_[i]);
            }
            if (with_j) subset_.push_back(ids_[j]);
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
        const bool alone = tied.size() == 1 && zeros_.empty();
        if (alone && !serves(tied[0])) return;
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
            sides[(end_[order_[e]] == 1) == passed].push_back(ids_[order_[e]]);
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
    std::vector<Moments> moments_;     // of each point
    MomentColumns columns_;            // the same side by side
    std::vector<double> key_, reach_;  // infinite keys: points of T and zeros
    std::vector<long long> end_, rank_of_;
    Met few_[few_met];
    int limit_[2] = {}, served_ = 0;
    Indices order_;
    int met_ = 0;
    std::vector<Event> events_;
    std::vector<std::uint8_t> wanted_;  // of counts on side 1, in general position
    std::vector<Group> groups_;
    std::set<Indices> seen_;
    int eliminated_first_ = -1;
    bool first_is_independent_ = false;
};

// Every way to add m of the tied points, coincident ones in order, so that each way is met once.
class TieListing {
  public:
    TieListing(Jury& jury, const Indices& base, const Indices& tied) : jury_(jury), subset_(base) {
        for (int i : base) moments_ += jury_.single(i);
        Indices sorted = tied;
        const auto before = [&](int i, int j) {
            const Moments &p = jury_.single(i), &q = jury_.single(j);
            return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : i < j;
        };
        std::sort(sorted.begin(), sorted.end(), before);
        for (int i : sorted) {
            const bool twin = !groups_.empty() &&
                              jury_.single(i).x == jury_.single(groups_.back()[0]).x &&
                              jury_.single(i).y == jury_.single(groups_.back()[0]).y;
            if (!twin) groups_.emplace_back();
            groups_.back().push_back(i);
        }
        left_.assign(groups_.size() + 1, 0);
        for (std::size_t g = groups_.size(); g-- > 0;) {
            left_[g] = left_[g + 1] + static_cast<int>(groups_[g].size());
        }
    }
    double ways(int m, double most) const {
        std::vector<int> copies;
        for (const Indices& group : groups_) copies.push_back(static_cast<int>(group.size()));
        return ways_up_to(copies, m, most);
    }
    void run(int m) { add(0, m, moments_); }

  private:
    void add(std::size_t g, int m, const Moments& s) {
        if (m == 0) {
            if (!jury_.may_win(s)) return;
            Indices sorted = subset_;
            jury_.score(sorted);
            return;
        }
        if (m > 4 && jury_.halted()) return;
        const int copies = static_cast<int>(groups_[g].size());
        Moments with = s;
        for (int z = 0; z <= std::min(copies, m); ++z) {
            if (z > 0) {
                subset_.push_back(groups_[g][z - 1]);
                with += jury_.single(groups_[g][z - 1]);
            }
            if (m - z <= left_[g + 1]) add(g + 1, m - z, with);
        }
        subset_.resize(subset_.size() - std::min(copies, m));
    }

    Jury& jury_;
    Indices subset_;
    Moments moments_;
    std::vector<Indices> groups_;  // of coincident points
    Indices left_;                 // points from a group on
};

// Candidates `base` + m of the tied points, every separable choice among them included.
void choose_from(Jury& jury, const Coordinates& all, int rank, const Indices& ids,
                 const Indices& base, const Indices& tied, int m) {
    Indices points;
    for (int i : tied) points.push_back(ids[i]);
    const int count = static_cast<int>(tied.size());
    TieListing listing(jury, base, points);
    if (listing.ways(m, most_ways) <= most_ways) {
        listing.run(m);
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
        listing.run(m);
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
    TieListing everything(*juries[0], {}, all);
    const bool on_one_plane = rank < lifted.width;
    if (on_one_plane && everything.ways(problem.k, most_ways) <= most_ways) {
        everything.run(problem.k);
    } else if (rank == 1) {
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
    if (best.subset.empty() && !control.stopped()) {
        const Answer any = certified_method(problem, control);
        best.offer(any.score, any.inliers);
        answer.nodes += any.nodes;
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
