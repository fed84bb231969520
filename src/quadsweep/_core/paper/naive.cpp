// The paper's naive quadratic sweep, Theta(n^(d+1) log n).
//
// For every d-tuple P of lifted points: the plane through P, the other points sorted by their
// signed distance from it, and as candidates every subset P' of P with the first k - |P'| of the
// others, from either end of the order. Candidates need not be separable: the others are counted
// off from the far end, wherever the plane is.
//
// The plane is never written down. Each point of P eliminates one coordinate of all points, in
// nested loops (lifted.hpp); the last coordinate is the distance, up to a factor. Where the lifted
// points span fewer dimensions, P has fewer points; tuples that are dependent have no plane of
// their own and are passed over. Subsets that only such tuples cut off (points on a circle, copies)
// are then missed: what is found is a good subset, not the best separable one.
#include <algorithm>
#include <memory>
#include <vector>

#include "candidates.hpp"
#include "shared/methods.hpp"
#include "shared/parallel.hpp"
#include "subset_table.hpp"
#include "sweep.hpp"

namespace quadsweep {
namespace {

class Tuples {
  public:
    Tuples(Scorer& scorer, const Coordinates& top, int k, Order order)
        : scorer_(scorer),
          order_(order),
          n_(top.n),
          k_(k),
          d_(top.width - 1),
          levels_(d_ + 1),
          table_(d_),
          others_(n_ - d_),
          first_(n_ - d_ + 1) {
        levels_[0] = top;
    }

    // The tuples that begin with point t.
    bool run(int t) {
        P_.clear();
        step(t);
        return !scorer_.halted();
    }

  private:
    struct Other {
        double distance;
        int point;
    };

    void step(int t) {
        const auto level = P_.size();
        if (scorer_.halted() || !eliminate(levels_[level], t, levels_[level + 1])) return;
        P_.push_back(t);
        if (static_cast<int>(P_.size()) == d_) {
            sort_and_score();
        } else {
            for (int next = t + 1; next < n_; ++next) step(next);
        }
        P_.pop_back();
    }

    void sort_and_score() {
        ++scorer_.planes;
        const double* distance = levels_[d_].column(0);
        int count = 0;
        for (int i = 0, p = 0; i < n_; ++i) {
            if (p < d_ && P_[p] == i) {
                ++p;
            } else {
                others_[count++] = {distance[i], i};
            }
        }
        std::sort(others_.begin(), others_.end(), [](const Other& a, const Other& b) {
            return a.distance < b.distance || (a.distance == b.distance && a.point < b.point);
        });
        table_.fill([&](int b) -> const Moments& { return scorer_.single(P_[b]); });
        if (order_ != Order::descending) score_first_others();
        if (order_ != Order::ascending) {
            std::reverse(others_.begin(), others_.end());
            score_first_others();
        }
    }

    void score_first_others() {
        const int most = std::min(k_, n_ - d_);
        for (int c = 0; c < most; ++c) first_[c + 1] = first_[c] + scorer_.single(others_[c].point);
        for (int size = std::max(0, k_ - (n_ - d_)); size <= std::min(d_, k_); ++size) {
            if (scorer_.any_may_win(table_.view(size), first_[k_ - size]))
                score_rows(size, k_ - size);
        }
    }

    void score_rows(int size, int count) {
        for (int row = table_.begin(size); row < table_.end(size); ++row) {
            if (!scorer_.may_win(first_[count] + table_.moments(row))) continue;
            subset_.clear();
            for (int c = 0; c < count; ++c) subset_.push_back(others_[c].point);
            for (int b = 0; b < d_; ++b) {
                if (table_.members(row) >> b & 1) subset_.push_back(P_[b]);
            }
            scorer_.score(subset_);
        }
    }

    Scorer& scorer_;
    Order order_;
    int n_, k_, d_;
    std::vector<Coordinates> levels_;  // after eliminating 0, 1, ... points of P
    SubsetTable table_;                // of P
    std::vector<int> P_, subset_;
    std::vector<Other> others_;
    std::vector<Moments> first_;  // moments of the first 0, 1, ... others
};

}  // namespace

Answer naive_lifted(const Problem& problem, const Coordinates& lifted, Order order,
                    Control& control) {
    const Coordinates top = independent_columns(lifted);
    const int n = problem.size();
    if (n <= top.width || top.width < 2) return exhaustive(problem, control);
    const Scorers scorers = make_scorers(problem, control);
    std::vector<std::unique_ptr<Tuples>> tuples;
    for (const auto& scorer : scorers)
        tuples.push_back(std::make_unique<Tuples>(*scorer, top, problem.k, order));
    parallel_for(static_cast<int>(scorers.size()), n, [&](int worker, std::int64_t t) {
        return tuples[worker]->run(static_cast<int>(t));
    });
    return best_of(scorers, problem, control, Status::heuristic);
}

Answer naive(const Problem& problem, Control& control) {
    return naive_lifted(problem, natural_lift(problem.points, problem.objective), Order::both,
                        control);
}

}  // namespace quadsweep
