// The candidates of both sweeps: how they are screened and scored, and how the subsets of tied
// points are listed.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "shared/control.hpp"
#include "shared/hot_loops.hpp"
#include "shared/points.hpp"

namespace quadsweep {

// Ways to choose m of groups of so many equal points each, at most `most` + 1.
inline double ways_up_to(const std::vector<int>& copies, int m, double most) {
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
class Scorer {
  public:
    Scorer(const Problem& problem, Control& control, bool attends)
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
using Scorers = std::vector<std::unique_ptr<Scorer>>;

// One for each worker.
inline Scorers make_scorers(const Problem& problem, Control& control) {
    Scorers scorers;
    for (int w = 0; w < std::max(problem.n_jobs, 1); ++w)
        scorers.push_back(std::make_unique<Scorer>(problem, control, w == 0));
    return scorers;
}

// The best of all that were scored.
inline Answer best_of(const Scorers& scorers, const Problem& problem, Control& control) {
    Answer answer;
    Incumbent best;
    for (const auto& scorer : scorers) {
        best.merge(scorer->best);
        answer.nodes += scorer->planes;
    }
    answer.inliers = best.subset;
    answer.score = best.score;
    answer.bound = trivial_bound(problem);
    answer.status = control.status(Status::best_separable);
    return answer;
}

// Every way to add m of the tied points, coincident ones in order, so that each way is met once.
class TieListing {
  public:
    TieListing(Scorer& scorer, const Indices& base, const Indices& tied)
        : scorer_(scorer), subset_(base) {
        for (int i : base) moments_ += scorer_.single(i);
        Indices sorted = tied;
        const auto before = [&](int i, int j) {
            const Moments &p = scorer_.single(i), &q = scorer_.single(j);
            return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : i < j;
        };
        std::sort(sorted.begin(), sorted.end(), before);
        for (int i : sorted) {
            const bool twin = !groups_.empty() &&
                              scorer_.single(i).x == scorer_.single(groups_.back()[0]).x &&
                              scorer_.single(i).y == scorer_.single(groups_.back()[0]).y;
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
            if (!scorer_.may_win(s)) return;
            Indices sorted = subset_;
            scorer_.score(sorted);
            return;
        }
        if (m > 4 && scorer_.halted()) return;
        const int copies = static_cast<int>(groups_[g].size());
        Moments with = s;
        for (int z = 0; z <= std::min(copies, m); ++z) {
            if (z > 0) {
                subset_.push_back(groups_[g][z - 1]);
                with += scorer_.single(groups_[g][z - 1]);
            }
            if (m - z <= left_[g + 1]) add(g + 1, m - z, with);
        }
        subset_.resize(subset_.size() - std::min(copies, m));
    }

    Scorer& scorer_;
    Indices subset_;
    Moments moments_;
    std::vector<Indices> groups_;  // of coincident points
    Indices left_;                 // points from a group on
};

}  // namespace quadsweep
