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
// {j}, a vertex, is served by one of the pencils it is in. Between two points i, j met in turn no
// point but those of T is on the plane: an edge, and the cells along it are one side with a subset
// of T. Each cell has some thirty vertices and is scored at one: T scores the edge from i to j if
// it serves T + {min(i, j)}. For let v be the vertex of the cell whose points have the least sum of
// indices, T + {i} the way it is served: the cell's edge from v in this pencil ends in a vertex T +
// {j} of the cell, so i < j.
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
#include <atomic>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "candidates.hpp"
#include "lifted.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "subset_table.hpp"

namespace quadsweep {
namespace {

constexpr std::int64_t most_ways = 1000;  // subsets of Z; beyond, Z is swept
constexpr int few_sorted = 64;            // angles sorted by counting the smaller ones
constexpr double no_end = 2;              // of points that are not met

void choose_from(Scorer& scorer, const Coordinates& all, int rank, const Indices& ids,
                 const Indices& base, const Indices& tied, int m);

// The planes through r - 1 of some points, `missing` of which are to be added to the points of
// `base`. Positions here are local; `ids` says which points of the problem they are.
class Arrangement {
  public:
    // Where points may be in special position every edge of a vertex served is scored. With
    // `special` they are taken to be in general position until it is set.
    Arrangement(Scorer& scorer, Coordinates top, Indices ids, Indices base, int missing,
                std::atomic<bool>* special = nullptr)
        : scorer_(scorer),
          special_(special),
          n_(top.n),
          rank_(top.width),
          missing_(missing),
          ids_(std::move(ids)),
          base_(std::move(base)),
          levels_(rank_ - 1),
          table_(rank_ - 2),
          key_((n_ + 7) / 8 * 8, infinity),
          reach_(n_),
          end_(key_.size(), no_end),
          rank_of_(key_.size()),
          order_(n_ + 1),
          edges_(n_ + 1) {
        levels_[0] = std::move(top);
        for (int i : ids_) moments_.append(scorer_.single(i));
        while (moments_.x.size() < key_.size()) moments_.append({});
        for (int i : base_) base_moments_ += scorer_.single(i);
        const int others = n_ - rank_ + 2;
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
        return !scorer_.halted() && !(special_ != nullptr && special_->load());
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
    // T serves the points beyond a limit, one for even indices and one for odd.
    struct Limits {
        int even = 0, odd = 0;
        bool operator()(int j) const { return j > (j % 2 == 0 ? even : odd); }
    };
    struct Edge {
        int at, ahead;  // position of the point it ends in; points on the positive side
    };

    void run_pair(int first, int second) {
        if (first >= second) return;
        if (first != eliminated_first_) {
            eliminated_first_ = first;
            first_is_independent_ = eliminated(first, 0);
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
        if ((!whole || is_needed()) && !scorer_.halted() && eliminated(t, level)) {
            if (whole) turn();
            for (int next = t + 1; !whole && next < n_; ++next) step(next);
        }
        T_.pop_back();
    }

    bool eliminated(int t, std::size_t level) {
        const bool independent = eliminate(levels_[level], t, levels_[level + 1]);
        if (!independent) note_special();
        return independent;
    }
    void note_special() {
        if (special_ != nullptr) *special_ = true;
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
        serves_ = {-2, -1};
        for (int t : T_) (t % 2 == 0 ? serves_.even : serves_.odd) = t;
        if (even_indices() % 2 == 1) serves_.odd = n_;
        served_ = 0;
        for (int limit : {serves_.even, serves_.odd}) served_ += std::max(n_ - 1 - limit, 0) / 2;
    }

    void turn() {
        find_served();
        if (served_ == 0) return;
        find_angles();
        if (zeros_.empty() && met_ > 0 && find_edges()) {
            scorer_.planes += static_cast<std::uint64_t>(served_);
            score_edges();
        } else if (special_ != nullptr) {
            note_special();
        } else {
            turn_with_ties();
        }
    }

    PencilView pencil() const {
        const Coordinates& last = levels_[rank_ - 2];
        return {last.column(0), last.column(1), last.error.data(), n_};
    }

    void find_angles() {
        hot_loops().angles(pencil(), key_.data(), reach_.data(), end_.data());
        for (int t : T_) {
            key_[t] = infinity;
            reach_[t] = 0;
            end_[t] = no_end;
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

    // Of subsets of T to add to one side of an edge.
    bool possible(int side) const { return side <= missing_ && missing_ - side <= rank_ - 2; }

    // The edges to score. A point of end 1 is on side 1 after it is passed, one of end 0 before.
    // False if two points may be met at once.
    bool find_edges() {
        const double *keys = key_.data(), *reaches = reach_.data(), *ends = end_.data();
        const Limits serves = serves_;
        const bool all = special_ == nullptr;
        const std::uint8_t* wanted = wanted_.data();
        std::size_t found = 0;
        int ahead = 0, close = 0;
        for (int i = 0; i < n_; ++i) ahead += ends[i] == 0;
        int before = order_[met_ - 1];
        double key = keys[before] - 4, reach = reaches[before];
        bool before_served = serves(before);
        for (int e = 0; e < met_; ++e) {
            const int j = order_[e];
            close += !(keys[j] - key > reach + reaches[j]);
            edges_[found] = {e, ahead};
            const bool served = serves(j), rising = before < j;
            const bool scored = (before_served & (rising | all)) | (served & (!rising | all));
            found += scored & wanted[ahead];
            ahead += 2 * static_cast<int>(ends[j]) - 1;
            before = j;
            before_served = served;
            key = keys[j];
            reach = reaches[j];
        }
        found_ = found;
        return close == 0;
    }

    void score_edges() {
        if (found_ == 0) return;
        table_.fill([&](int b) { return moments_.row(T_[b]); });
        for (const Edge& edge : std::span(edges_.data(), found_)) {
            Moments both[2];
            hot_loops().side_moments(moments_.view(), key_.data(), end_.data(),
                                     key_[order_[edge.at]], both);
            score_side(edge.at, 1, edge.ahead, base_moments_ + both[1]);
            score_side(edge.at, 0, met_ - edge.ahead, base_moments_ + both[0]);
        }
    }

    // The points on one side of an edge, with every subset of T that makes them k points.
    void score_side(int at, int which, int count, const Moments& there) {
        if (!possible(count)) return;
        const int m = missing_ - count;
        if (!scorer_.any_may_win(table_.view(m), there)) return;
        for (int row = table_.begin(m); row < table_.end(m); ++row) {
            if (!scorer_.may_win(there + table_.moments(row))) continue;
            subset_ = base_;
            for (int e = 0; e < met_; ++e) {
                if ((end_[order_[e]] == which) == (e < at)) subset_.push_back(ids_[order_[e]]);
            }
            for (std::size_t b = 0; b < T_.size(); ++b) {
                if (table_.members(row) >> b & 1) subset_.push_back(ids_[T_[b]]);
            }
            scorer_.score(subset_);
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
            if (scorer_.halted()) return;
        }
    }

    // The plane through T and the points of a group; positions from `end` on belong to it too.
    void meet(const Group& group, int end, Indices tied) {
        const bool alone = tied.size() == 1 && zeros_.empty();
        if (alone && !serves_(tied[0])) return;
        tied.insert(tied.end(), zeros_.begin(), zeros_.end());
        tied.insert(tied.end(), T_.begin(), T_.end());
        std::sort(tied.begin(), tied.end());
        if (!alone && !seen_.insert(tied).second) return;
        ++scorer_.planes;
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
            choose_from(scorer_, levels_[0], rank_, ids_, side, tied, m);
        }
    }

    Scorer& scorer_;
    std::atomic<bool>* special_;
    int n_, rank_, missing_;
    Indices ids_, base_;
    Moments base_moments_;
    std::vector<Coordinates> levels_;  // after eliminating 0, 1, ... points of T
    SubsetTable table_;                // of T
    Indices T_, zeros_, subset_;
    MomentColumns moments_;                  // of each point
    std::vector<double> key_, reach_, end_;  // infinite keys: points of T and zeros
    std::vector<long long> rank_of_;
    Limits serves_;
    int served_ = 0;
    Indices order_;
    int met_ = 0;
    std::vector<Edge> edges_;
    std::size_t found_ = 0;             // of the edges
    std::vector<std::uint8_t> wanted_;  // of counts on side 1 of an edge, in general position
    std::vector<Group> groups_;
    std::set<Indices> seen_;
    int eliminated_first_ = -1;
    bool first_is_independent_ = false;
};

// Candidates `base` + m of the tied points, every separable choice among them included.
void choose_from(Scorer& scorer, const Coordinates& all, int rank, const Indices& ids,
                 const Indices& base, const Indices& tied, int m) {
    Indices points;
    for (int i : tied) points.push_back(ids[i]);
    const int count = static_cast<int>(tied.size());
    TieListing listing(scorer, base, points);
    if (listing.has_up_to(most_ways, m)) {
        listing.run(m);
        return;
    }
    Coordinates own = independent_columns(rows_of(all, tied));
    if (own.width <= 1) {
        Indices subset = base;
        subset.insert(subset.end(), points.begin(), points.begin() + m);
        scorer.score(subset);
    } else if (own.width < rank || count < all.n) {
        scale_points(own);
        Arrangement(scorer, std::move(own), points, base, m).run_all();
    } else {
        listing.run(m);
    }
}

Indices first_indices(int n) {
    Indices all(n);
    for (int i = 0; i < n; ++i) all[i] = i;
    return all;
}

// All pencils, each worker with a scorer of its own.
void turn_all(const Scorers& scorers, const Coordinates& top, int k, std::atomic<bool>* special) {
    std::vector<std::unique_ptr<Arrangement>> arrangements;
    for (const auto& scorer : scorers) {
        scorer->planes = 0;
        arrangements.push_back(std::make_unique<Arrangement>(*scorer, top, first_indices(top.n),
                                                             Indices{}, k, special));
    }
    parallel_for(static_cast<int>(scorers.size()), arrangements[0]->tasks(),
                 [&](int worker, std::int64_t task) { return arrangements[worker]->run(task); });
}

}  // namespace

// Whether all subsets of k points are few enough to be scored, which is then done.
static bool list_all(Scorer& scorer, const Indices& points, int k) {
    const TieListing listing(scorer, {}, points);
    if (!listing.has_up_to(most_ways, k)) return false;
    listing.run(k);
    return true;
}

Answer sweep_lifted(const Problem& problem, const Coordinates& lifted, Control& control) {
    Coordinates top = independent_columns(lifted);
    const int n = problem.size(), rank = top.width;
    if (n <= rank || problem.k == n) return exhaustive(problem, control);
    scale_points(top);
    const Indices all = first_indices(n);
    const Scorers scorers = make_scorers(problem, control);
    const bool on_one_plane = rank < lifted.width;
    if (on_one_plane && list_all(*scorers[0], all, problem.k)) {
        // All subsets are scored.
    } else if (rank == 1) {
        choose_from(*scorers[0], top, rank, all, {}, all, problem.k);
    } else {
        std::atomic<bool> special{false};
        turn_all(scorers, top, problem.k, &special);
        if (special) turn_all(scorers, top, problem.k, nullptr);
    }

    Answer answer = best_of(scorers, problem, control, Status::best_separable);
    if (answer.inliers.empty() && !control.stopped()) {
        const Answer any = certified_method(problem, control);
        answer.inliers = any.inliers;
        answer.score = any.score;
        answer.nodes += any.nodes;
        answer.status = control.status(Status::best_separable);
    }
    return answer;
}

Answer sweep(const Problem& problem, Control& control) {
    return sweep_lifted(problem, natural_lift(problem.points, problem.objective), control);
}

}  // namespace quadsweep
