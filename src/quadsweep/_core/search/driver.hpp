// Branch and bound: boxes of parameters wait in a frontier. Threads take boxes and put the children
// of open ones back, until no box waits. A relaxation defines the boxes, bounds and branches them;
// README.md says how to add one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "debug_solution.hpp"
#include "frontier.hpp"
#include "relaxation.hpp"
#include "shared/control.hpp"
#include "shared/parallel.hpp"
#include "shared/threads.hpp"

namespace quadsweep {

template <Relaxation R>
    requires RelaxationWorker<typename R::Worker, typename R::Box>
class Driver {
  public:
    using Box = typename R::Box;
    using Worker = typename R::Worker;
    using Boxes = std::vector<std::unique_ptr<Box>>;

    Driver(R& relaxation, const Limits& limits, Control& control)
        : relaxation_(relaxation),
          limits_(limits),
          control_(control),
          frontier_(limits.depth_first_at) {}

    // Discards all boxes and begins with these.
    void begin(Boxes roots) {
        clear();
        for (auto& root : roots) frontier_.push(std::move(root));
    }
    // Searches until no box waits, or until halt().
    void run() {
        if (limits_.serial_evaluations > 0) run_alone();
        if (frontier_.empty() || halt()) return;
        held_.assign(limits_.n_jobs, undefined);
        parallel_for(limits_.n_jobs, limits_.n_jobs, [&](int id, std::int64_t) {
            work(id);
            return true;
        });
    }
    // Discards all boxes: their question is answered otherwise, or not asked any more.
    void clear() {
        frontier_.clear();
        deferred_ = undefined;
        valid_ = true;
    }
    void invalidate() { valid_ = false; }
    // Looks at the clock and reports progress, from the calling thread. Call it during long steps
    // outside of run(), which does so itself between boxes.
    void attend() {
        control_.look([&] { return described(); });
    }

    // Whether threads take no more boxes, because of a limit, Ctrl-C, finished() or invalid bounds.
    bool halt() const {
        return control_.stopped() || relaxation_.finished() || too_many_boxes_ || !valid_;
    }
    Standing standing() const {
        double open = std::max(frontier_.upper(), deferred_);
        for (double upper : held_) open = std::max(open, upper);
        return {valid_, frontier_.empty(), open, deferred_};
    }
    bool too_many_boxes() const { return too_many_boxes_; }
    std::uint64_t n_boxes() const { return boxes_; }
    double n_evaluations() const { return evaluations_; }

  private:
    Ending step(Worker& worker, std::unique_ptr<Box> box, Boxes& children, double& upper) {
        if (!worker.aim()) return Ending::invalid;
        const SolutionGuard<Worker, Box> guard(worker, *box);
        if (!relaxation_.worth(box->upper)) {
            guard.closed("the upper end of");
            return Ending::closed;
        }
        Ending ending = guard.spoiled(worker.bound(*box));
        if (ending == Ending::closed) guard.closed("the bound of");
        if (ending == Ending::closed || ending == Ending::invalid) return ending;
        worker.propose(*box);
        upper = box->upper = std::min(box->upper, worker.upper(*box));
        guard.bounded(upper);
        box->missing = worker.missing();
        if (ending == Ending::deferred) return ending;
        ending = worker.fix(*box);
        if (ending == Ending::closed) guard.closed("deciding points of");
        if (ending != Ending::open) return ending;
        guard.fixed(*box);
        if (guard.listed([&] { return worker.enumerate(*box); })) return Ending::closed;
        ending = worker.branch(std::move(box), children);
        if (ending == Ending::open) guard.split(children);
        if (ending == Ending::closed) guard.closed("splitting");
        return ending;
    }

    // Records a step. Threads call it with the lock held; run_alone() needs none.
    void take_in(Ending ending, double upper, Boxes& children) {
        ++boxes_;
        if (ending == Ending::invalid) valid_ = false;
        if (ending == Ending::deferred) deferred_ = std::max(deferred_, upper);
        if (static_cast<double>(boxes_) > limits_.most_boxes) too_many_boxes_ = true;
        for (auto& child : children) frontier_.push(std::move(child));
        children.clear();
        if (frontier_.memory() > limits_.memory) control_.out_of_memory();
    }

    void run_alone() {
        Worker worker(relaxation_);
        Boxes children;
        while (worker.n_evaluations() < limits_.serial_evaluations && !frontier_.empty() &&
               !halt()) {
            auto box = frontier_.pop();
            double upper = box->upper;
            const Ending ending = step(worker, std::move(box), children, upper);
            take_in(ending, upper, children);
            attend();
        }
        evaluations_ += worker.n_evaluations();
    }

    void work(int id) {
        Worker worker(relaxation_);
        Boxes children;
        Lock lock(mutex_);
        for (;;) {
            while (frontier_.empty() && active_ > 0 && !halt()) {
                changed_.wait_for(lock, std::chrono::milliseconds(10));
                if (id == 0) attend_unlocked(lock);
            }
            if (frontier_.empty() || halt()) break;
            auto box = frontier_.pop();
            double upper = held_[id] = box->upper;
            ++active_;
            lock.unlock();
            auto ending = Ending::open;
            // If this step throws, the other threads stop and the caller gets the exception.
            or_else([&] { ending = step(worker, std::move(box), children, upper); },
                    [&] { control_.interrupt(); });
            lock.lock();
            --active_;
            held_[id] = undefined;
            take_in(ending, upper, children);
            changed_.notify_all();
            if (id == 0) attend_unlocked(lock);
        }
        evaluations_ += worker.n_evaluations();
        changed_.notify_all();
    }

    Progress described() const {
        Progress now = relaxation_.progress(standing());
        now.nodes = boxes_;
        return now;
    }
    // Calls back without the lock: a callback may be slow, or need the lock itself.
    void attend_unlocked(Lock& lock) {
        lock.unlock();
        control_.look([&] {
            const Lock inside(mutex_);
            return described();
        });
        lock.lock();
    }

    R& relaxation_;
    const Limits limits_;
    Control& control_;
    std::atomic<bool> valid_{true}, too_many_boxes_{false};

    Mutex mutex_;  // guards all members below
    Condition changed_;
    Frontier<Box> frontier_;
    std::vector<double> held_;  // upper ends of the boxes that threads are looking at
    double deferred_ = undefined;
    int active_ = 0;
    std::uint64_t boxes_ = 0;
    double evaluations_ = 0;
};

}  // namespace quadsweep
