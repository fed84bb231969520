// One thread's tools for looking at boxes: each is bounded, its points decided, and then closed,
// listed or split. An open box also proposes the subset of its centre.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bound.hpp"
#include "branching.hpp"
#include "closing.hpp"
#include "incumbents.hpp"
#include "opener.hpp"
#include "parts.hpp"
#include "search/relaxation.hpp"

namespace quadsweep {

// What boxes over cells have in common, whether all rows are in memory or not.
class CellWorker {
  public:
    CellWorker(const Cells& cells, const Criterion& criterion, bool k_or_more, double unit);
    CellWorker(const CellWorker&) = delete;  // its tools refer to each other

    double upper(const Box& box) const { return criterion_->upper(box, -missing()) * unit_; }
    double missing() const { return bound_.error - bound_.least(); }
    double n_evaluations() const { return bounder_.n_evaluations; }

  protected:
    // In the units of the cells.
    bool aim(double score) {
        criterion_->aim(score);
        return criterion_->valid();
    }
    Ending close(Box& box) { return opener_.close(box, choice_, bound_); }
    bool decide_points(Box& box) {
        worst_ = bounder_.chosen_at_worst(bound_);
        return bounder_.fix(box, bound_);
    }
    bool wants_points(const Box& box) const {
        return quadsweep::wants_points(box, *criterion_, cells_, choice_.value, worst_, bound_);
    }
    // look(moments, kept, picks) for every subset, if there are at most so many.
    template <class Look>
    bool list(Box& box, std::int64_t most, Look look) {
        double weight = 0;
        for (int at : box.open.cell) weight += cells_.cell[at].weight;
        if (!listable(weight)) return false;
        bounder_.open_all(box);
        if (ways(box.open, box.need, k_or_more_, most) > most) return false;
        list_ways(cells_, box.open, box.need, k_or_more_, box.kept, look);
        return true;
    }
    // False if points were to be decided and are not in memory.
    bool branch(std::unique_ptr<Box> box, bool in_points, Boxes& children);
    Moments rescaled(double k) const;

    const Cells& cells_;
    bool k_or_more_;
    double unit_;
    std::unique_ptr<Criterion> criterion_;
    Bounder bounder_;
    Opener opener_;
    Choice choice_;        // at the centre
    Bound bound_;          // at the corners
    Choice worst_;         // at the worst of them
    double explored_ = 0;  // cells and points costed for proposals

  private:
    static bool listable(double copies);
};

class PlaneRelaxation;

class Worker : public CellWorker {
  public:
    explicit Worker(PlaneRelaxation& relaxation);

    bool aim();
    Ending bound(Box& box);
    void propose(const Box& box);
    Ending fix(Box& box);
    bool enumerate(Box& box);
    Ending branch(std::unique_ptr<Box> box, Boxes& children);
#ifdef QUADSWEEP_DEBUG_SOLUTION
    bool holds_solution(const Box& box, bool loosely) const;
    double solution_score() const;
#endif

  private:
    void explore();
    double score_of_choice(const Moments& m, double weight) const;
    std::optional<Moments> filled(const Box& box) const;

    PlaneRelaxation& r_;
    bool in_points_ = false;  // only deciding points can close the box
};

// The points where they are placed, the best subset so far, and the criterion: for the driver.
class PlaneRelaxation {
  public:
    using Box = quadsweep::Box;
    using Worker = quadsweep::Worker;

    // `halt`: whether the search is to end.
    PlaneRelaxation(const Problem& asked, const CertifiedOptions& with, std::function<bool()> halt)
        : problem(asked),
          options(with),
          known(problem, options, placed),
          parts(problem, options, known, std::move(halt)) {}

    bool finished() const { return known.decided() || known.exact_fit(); }
    bool worth(double upper) const {
        return !known.at_limit() && !(upper <= known.target() + known.tol());
    }
    Progress progress(const Standing& standing) const;

    const Problem& problem;
    const CertifiedOptions& options;
    Placement placed;
    Incumbents known;
    Parts parts;
    std::unique_ptr<Criterion> criterion;
};

}  // namespace quadsweep
