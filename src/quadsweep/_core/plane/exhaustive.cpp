// All C(n, k) subsets.
//
// The points are cut into a head and a tail of m points. The moments of every subset of the tail
// stand in tables, one a size; each subset of the head, of size i, met in dictionary order with its
// moments on a stack, is joined with the whole table of size k - i in one vector loop. A subset
// thus costs five additions and its score, about a nanosecond, and sums are never undone, so
// rounding does not build up. Where many points are kept out of many, the dropped ones are listed
// instead.
//
// The loop only screens: what may beat the incumbent, given the rounding of its moments, is scored
// again from sums centred at its own mean.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "shared/control.hpp"
#include "shared/hot_loops.hpp"
#include "shared/methods.hpp"
#include "shared/moment_columns.hpp"
#include "shared/parallel.hpp"

namespace quadsweep {
namespace {

constexpr int largest_tail = 13;
constexpr int task_points = 8;  // the first points of the head whose choice makes a task

// Subsets of the tail of one size.
struct Table : MomentColumns {
    std::vector<std::uint32_t> members;
};

// What is listed: the kept points themselves or, with `dropped`, the others.
struct Listing {
    const Problem& problem;
    bool dropped;
    int n, listed, head, tail;
    double sign;     // of the listed points' moments in the kept points' moments
    Moments origin;  // of the kept points when nothing is listed yet
    Slack slack;
    std::vector<Moments> single;
    std::vector<Table> tables;

    explicit Listing(const Problem& p)
        : problem(p),
          dropped(p.size() > 26 && p.k > p.size() - p.k),
          n(p.size()),
          listed(dropped ? n - p.k : p.k),
          head(n - std::min({n, largest_tail, n / 2 + 2})),
          tail(n - head),
          sign(dropped ? -1 : 1) {
        for (int i = 0; i < n; ++i) {
            Moments s;
            s.add(p.points.x[i], p.points.y[i]);
            single.push_back(dropped ? Moments{} - s : s);
        }
        // A sum of at most n terms, the products in a, b, c, the points themselves: generously.
        const double rounding = (n + 16) * 0x1p-52;
        slack.rel = dropped ? 0 : rounding;
        if (dropped) {
            for (int i = 0; i < n; ++i) origin -= single[i];
            slack.xx = rounding * origin.xx;
            slack.yy = rounding * origin.yy;
            slack.xy = rounding * (origin.xx + origin.yy) / 2;
        }
        for (double* part : {&slack.xx, &slack.xy, &slack.yy}) *part += least_square;
        make_tables();
    }

    void make_tables() {
        tables.resize(tail + 1);
        std::vector<Moments> sums(std::size_t{1} << tail);
        for (std::uint32_t mask = 0; mask < sums.size(); ++mask) {
            if (mask != 0) {
                const int lowest = std::countr_zero(mask);
                sums[mask] = sums[mask & (mask - 1)] + single[head + lowest];
            }
            Table& table = tables[std::popcount(mask)];
            table.append(sums[mask]);
            table.members.push_back(mask);
        }
    }

    // The kept points, sorted, from the listed ones.
    void kept(const std::vector<int>& chosen_head, std::uint32_t mask,
              std::vector<int>& out) const {
        out.clear();
        if (!dropped) {
            out = chosen_head;
            for (int j = 0; j < tail; ++j) {
                if (mask >> j & 1) out.push_back(head + j);
            }
            return;
        }
        std::size_t next = 0;
        for (int i = 0; i < n; ++i) {
            const bool gone = i < head ? next < chosen_head.size() && chosen_head[next] == i
                                       : (mask >> (i - head) & 1) != 0;
            if (i < head && gone) ++next;
            if (!gone) out.push_back(i);
        }
    }
};

// One worker's walk over the subsets of the head.
class SubsetWalk {
  public:
    SubsetWalk(const Listing& listing, Control& control, bool attends)
        : listing_(listing),
          control_(control),
          attends_(attends),
          ceiling_(trivial_bound(listing.problem)) {}

    Incumbent best;
    std::uint64_t subsets = 0;

    // Subsets whose choice among the first points of the head is given by the bits of `task`.
    void run(std::uint32_t task, int fixed) {
        chosen_.clear();
        Moments s = listing_.origin;
        for (int i = 0; i < fixed; ++i) {
            if (task >> i & 1) {
                chosen_.push_back(i);
                s += listing_.single[i];
            }
        }
        descend(fixed, s);
    }

  private:
    void descend(int from, const Moments& s) {
        const int missing = listing_.listed - static_cast<int>(chosen_.size());
        if (missing < 0 || missing > listing_.n - from || halted()) return;
        if (missing <= listing_.tail) join(s, missing);
        if (missing == 0) return;
        for (int i = from; i < listing_.head; ++i) {
            if (missing > listing_.n - i) break;
            chosen_.push_back(i);
            descend(i + 1, s + listing_.single[i]);
            chosen_.pop_back();
        }
    }

    void join(const Moments& s, int missing) {
        const Problem& problem = listing_.problem;
        const Table& table = listing_.tables[missing];
        const double k = problem.k;
        subsets += table.members.size();
        const auto screen = hot_loops().screen[static_cast<int>(problem.objective)];
        if (screen(table.view(), s, k, listing_.slack, best.score) == 0) return;
        for (std::size_t i = 0; i < table.members.size(); ++i) {
            const CentredRange range = centred_range(s + table.row(i), k, listing_.slack);
            if (optimistic(problem.objective, range, k) < best.score) continue;
            listing_.kept(chosen_, table.members[i], subset_);
            // nothing beats a perfect fit; of equals, the first in dictionary order is the answer
            if (best.score >= ceiling_ && subset_ > best.subset) continue;
            best.offer(accurate_score(problem.points, subset_, problem.objective), subset_);
        }
    }

    bool halted() {
        if (!attends_) return control_.stopped();
        return control_.attend([&] { return Progress{best.score, infinity, subsets, 0}; });
    }

    const Listing& listing_;
    Control& control_;
    bool attends_;
    double ceiling_;
    std::vector<int> chosen_, subset_;
};

}  // namespace

Answer exhaustive(const Problem& problem, Control& control) {
    if (problem.points.wide) return univariate(problem, control);  // only var is asked of these
    const Listing listing(problem);
    const int fixed = std::min(listing.head, task_points);
    std::vector<SubsetWalk> walks;
    const int workers = std::max(problem.n_jobs, 1);
    for (int w = 0; w < workers; ++w) walks.emplace_back(listing, control, w == 0);
    parallel_for(workers, std::int64_t{1} << fixed, [&](int worker, std::int64_t task) {
        walks[worker].run(static_cast<std::uint32_t>(task), fixed);
        return !control.stopped();
    });

    Answer answer;
    Incumbent best;
    for (const SubsetWalk& walk : walks) {
        best.merge(walk.best);
        answer.nodes += walk.subsets;
    }
    answer.inliers = best.subset;
    answer.score = best.score;
    answer.status = control.status(Status::optimal);
    answer.bound = answer.status == Status::optimal ? best.score : trivial_bound(problem);
    return answer;
}

}  // namespace quadsweep
