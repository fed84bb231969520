// A known best subset that a search may not lose, in builds with QUADSWEEP_DEBUG_SOLUTION: a wrong
// bound is found at its box and not by the answer. (After HighsDebugSol.h of HiGHS.)
//
// The subset is hidden: it becomes the incumbent only where a box is listed, so that every box that
// holds it must stay open until then. Workers that know whether a box holds it have, in such
// builds,
//
//     bool holds_solution(const Box&, bool loosely) const   surely; or perhaps, given the rounding
//     double solution_score() const                         what it scores, undefined once it is
//     met
//
// Others are not guarded.
#pragma once

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/objectives.hpp"

namespace quadsweep {

#ifdef QUADSWEEP_DEBUG_SOLUTION
struct DebugSolution {
    std::vector<int> rows;  // none: nothing is guarded
    double spoil = 0;       // bounds are raised by this share of themselves, to see them caught
};
inline DebugSolution debug_solution;
inline thread_local bool listing_solution = false;
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
