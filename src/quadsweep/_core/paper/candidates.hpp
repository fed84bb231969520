// The candidates of both sweeps: how they are screened and scored, and how the subsets of tied
// points are listed.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "search/listing.hpp"
#include "shared/control.hpp"
#include "shared/hot_loops.hpp"
#include "shared/points.hpp"

namespace quadsweep {

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
        const auto describe = [&] { return Progress{best.score, infinity, planes, 0}; };
        if (problem_.size() < long_step) return control_.attend(describe);
        control_.look(describe);
        return control_.stopped();
    }

  private:
    static constexpr int long_step = 10000;  // points; sorting more takes over a millisecond

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

// The best of all that were scored. `complete`: the status of a method that was not stopped.
inline Answer best_of(const Scorers& scorers, const Problem& problem, Control& control,
                      Status complete) {
    Answer answer;
    Incumbent best;
    for (const auto& scorer : scorers) {
        best.merge(scorer->best);
        answer.nodes += scorer->planes;
    }
    answer.inliers = best.subset;
    answer.score = best.score;
    answer.bound = trivial_bound(problem);
    answer.status = control.status(complete);
    return answer;
}

// Every way to add m of the tied points, coincident ones in order, so that each way is met once.
class TieListing {
  public:
    TieListing(Scorer& scorer, const Indices& base, const Indices& tied)
        : scorer_(scorer), base_(base) {
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
            if (!twin) {
                open_.point.push_back(static_cast<int>(groups_.size()));
                open_.copies.push_back(0);
                groups_.emplace_back();
            }
            groups_.back().push_back(i);
            ++open_.copies.back();
        }
    }
    bool has_up_to(std::int64_t most, int m) const { return ways(open_, m, false, most) <= most; }
    void run(int m) const {
        Moments kept;
        for (int i : base_) kept += scorer_.single(i);
        const auto add = [&](Moments& sums, std::size_t g) {
            sums += scorer_.single(groups_[g][0]);
        };
        const auto look = [&](const Moments& sums, const Picks& picks) {
            if (scorer_.may_win(sums)) {
                Indices subset = base_;
                for (const auto [g, count] : picks)
                    subset.insert(subset.end(), groups_[g].begin(), groups_[g].begin() + count);
                scorer_.score(subset);
            }
            return !scorer_.halted();
        };
        list_ways(open_, m, false, kept, add, look);
    }

  private:
    Scorer& scorer_;
    Indices base_;
    std::vector<Indices> groups_;  // of coincident points
    Undecided open_;               // the groups, as points with copies
};

}  // namespace quadsweep
