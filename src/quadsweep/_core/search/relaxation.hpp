// What the search (driver.hpp) needs of a relaxation. Larger scores are better.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "shared/control.hpp"

namespace quadsweep {

// What becomes of a box.
enum class Ending {
    closed,    // no subset of it beats the target
    open,      // not known yet
    deferred,  // nothing here can decide it: it stays open, and is not looked at again
    invalid,   // the relaxation does not hold for the target: nothing follows from any box
};

struct Limits {
    int n_jobs = 1;
    double serial_evaluations = 0;     // by one thread, before there are more
    double most_boxes = infinity;      // then the search ends, for something else to be tried
    double depth_first_at = infinity;  // bytes of boxes that wait
    double memory = infinity;          // bytes of boxes that wait: beyond, the search is stopped
};

// How far a search is. The best subset is proved if this is valid and closed, and nothing deferred
// could still beat it.
struct Standing {
    bool valid = true;            // else nothing follows from the boxes that are closed
    bool closed = true;           // no box waits; some may be deferred
    double open = undefined;      // no subset of a box that waits, is held or deferred scores more
    double deferred = undefined;  // the same of those deferred
};

// Shared by all threads.
template <class R>
concept Relaxation = requires(const R& r, double upper, const Standing& standing) {
    typename R::Box;     // with upper and missing (frontier.hpp)
    typename R::Worker;  // what one thread bounds boxes with, made from an R&
    // Nothing more is asked for: the search ends at once.
    { r.finished() } -> std::convertible_to<bool>;
    // Whether a box with this upper end could hold a subset that beats the target; else it is
    // closed without a bound.
    { r.worth(upper) } -> std::convertible_to<bool>;
    // The score to be beaten and what no subset passes, for whoever watches. The driver adds the
    // number of boxes, Control the time.
    { r.progress(standing) } -> std::convertible_to<Progress>;
};

// One thread's, called in this order for each box; what one call leaves in the worker is there for
// the next. All of them argue with the score that aim() took over.
template <class W, class Box>
concept RelaxationWorker = requires(W& w, const W& known, Box& box, std::unique_ptr<Box> owned,
                                    std::vector<std::unique_ptr<Box>>& children) {
    // Takes over the score to be beaten now; false if the relaxation does not hold for it.
    { w.aim() } -> std::convertible_to<bool>;
    // Whether any subset of the box can beat it.
    { w.bound(box) } -> std::same_as<Ending>;
    // Offers subsets that the bound suggests to the relaxation.
    w.propose(box);
    // No subset of the box scores more, rounding included; and by how much the bound failed to
    // close it, which orders boxes with the same upper end. Both as bound() left them.
    { known.upper(box) } -> std::convertible_to<double>;
    { known.missing() } -> std::convertible_to<double>;
    // Decides points that all subsets of the box that beat the target keep, or do without; closed
    // if no subset is left.
    { w.fix(box) } -> std::same_as<Ending>;
    // Offers all its subsets to the relaxation if they are few; true if that was done to the end.
    { w.enumerate(box) } -> std::convertible_to<bool>;
    // Boxes that together hold all subsets of this one that beat the target; then open, though
    // without children nothing stays open. Deferred if it cannot be narrowed. If the target was
    // raised after aim() the box may be its own child, and is bounded once more.
    { w.branch(std::move(owned), children) } -> std::same_as<Ending>;
    // The work done by this worker so far, in points costed (Limits::serial_evaluations).
    { known.n_evaluations() } -> std::convertible_to<double>;
};

}  // namespace quadsweep
