// A known best subset that a search may not lose, in builds with QUADSWEEP_DEBUG_SOLUTION: a wrong
// bound is found at its box and not by the answer. (After HighsDebugSol.h of HiGHS.)
//
// The subset is hidden: it becomes the incumbent only where a box is listed, so that every box that
// holds it must stay open until then. Workers that know whether a box holds it have, in such
// builds,
//
//     bool holds_solution(const Box&, bool loosely) const   surely; or perhaps, given the rounding
//     double solution_score() const      what it scores, undefined once it is met
//
// Searches for a removal guard the units removed, which nothing hides: one that is found ends them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "decisions.hpp"
#include "relaxation.hpp"
#include "shared/objectives.hpp"

namespace quadsweep {

#ifdef QUADSWEEP_DEBUG_SOLUTION
struct DebugSolution {
    std::vector<int> rows;  // none: nothing is guarded
    int spoil = 0;          // every so many boxes one is closed by mistake, to see that caught
};
inline DebugSolution debug_solution;
inline thread_local bool listing_solution = false;
inline thread_local int boxes_bounded = 0;

// Whether an incumbent of this score would hide what happens to the solution.
inline bool hides_solution(double score, double solution) {
    return !listing_solution && solution != undefined && score >= solution;
}

// Whether the solution keeps what is decided in a box and nothing that is out: point by point, of
// which there are so many copies, with the rows members(p).
template <class Cells, class Counts, class Members>
bool agrees_with_solution(const Decided* decided, const Undecided& open, const Cells& cell,
                          const Counts& copies, Members members) {
    const int n = static_cast<int>(copies.size());
    std::vector<int> least(n, 0), most(n, 0);
    const auto add = [&](int at, std::vector<int>& to) {
        for (int p = cell[at].first; p < cell[at].last; ++p) to[p] += copies[p];
    };
    const Kept kept = all_kept(decided, {}, n);
    for (const auto [point, count] : kept.points) least[point] = most[point] = count;
    for (int at : kept.cells) {
        add(at, least);
        add(at, most);
    }
    for (int at : open.cell) add(at, most);
    for (std::size_t i = 0; i < open.point.size(); ++i) most[open.point[i]] += open.copies[i];
    const std::vector<int>& rows = debug_solution.rows;
    for (int p = 0; p < n; ++p) {
        int count = 0;
        for (int row : members(p)) count += std::binary_search(rows.begin(), rows.end(), row);
        if (count < least[p] || count > most[p]) return false;
    }
    return true;
}

// Whether the units removed by the solution are these and some of the others, `most` at most.
template <class Removable>
bool removes_solution(std::vector<int> removed, int most, Removable removable) {
    const std::vector<int>& rows = debug_solution.rows;
    std::sort(removed.begin(), removed.end());
    if (!std::includes(rows.begin(), rows.end(), removed.begin(), removed.end())) return false;
    return std::ssize(rows) <= std::ssize(removed) + most &&
           std::all_of(rows.begin(), rows.end(), [&](int row) {
               return std::binary_search(removed.begin(), removed.end(), row) || removable(row);
           });
}

// Whether a parameter lies in its interval: surely, or perhaps given its rounding.
inline bool is_between(double value, double centre, double half, double size, bool loosely) {
    const double slack = (loosely ? 1 : -1) * 1e-9 * (half + size);
    return std::fabs(value - centre) <= half + slack;
}
#endif

template <class W, class Box>
concept KnowsSolution = requires(const W& w, const Box& box) {
    { w.holds_solution(box, true) } -> std::same_as<bool>;
    { w.solution_score() } -> std::same_as<double>;
};

// Of one box, while it is looked at. Costs nothing where workers do not know the solution.
template <class Worker, class Box>
class SolutionGuard {
  public:
    SolutionGuard(const Worker& worker, const Box& box) : worker_(worker) {
        if constexpr (guards) held_ = worker.holds_solution(box, false);
    }
    // Closes an open box where that is asked for by way of trial.
    Ending spoiled(Ending ending) const {
#ifdef QUADSWEEP_DEBUG_SOLUTION
        const int every = debug_solution.spoil;
        if (ending == Ending::open && every > 0 && ++boxes_bounded % every == 0) {
            return Ending::closed;
        }
#endif
        return ending;
    }
    // The box, or what follows from it, is closed by this step.
    void closed(const char* step) const {
        if constexpr (guards) {
            if (held_ && worker_.solution_score() != undefined) lose(step);
        }
    }
    void bounded(double upper) const {
        if constexpr (guards) {
            if (held_ && upper < worker_.solution_score()) lose("the upper end of");
        }
    }
    void fixed(const Box& box) const {
        if constexpr (guards) {
            if (!worker_.holds_solution(box, true)) closed("deciding points of");
        }
    }
    void split(const std::vector<std::unique_ptr<Box>>& children) const {
        if constexpr (guards) {
            for (const auto& child : children) {
                if (worker_.holds_solution(*child, true)) return;
            }
            closed("splitting");
        }
    }
    template <class List>
    bool listed(List&& list) const {
#ifdef QUADSWEEP_DEBUG_SOLUTION
        listing_solution = true;
        const bool done = list();
        listing_solution = false;
        if (done) closed("listing");
        return done;
#else
        return list();
#endif
    }

  private:
    static constexpr bool guards = KnowsSolution<Worker, Box>;

    static void lose(const char* step) {
        if constexpr (guards) {
            throw std::logic_error(std::string(step) + " a box loses the known best subset");
        }
    }

    const Worker& worker_;
    bool held_ = false;
};

}  // namespace quadsweep
