// When to stop: a deadline, an interrupt, a callback that has seen enough, no memory left.
//
// Every worker calls `stopped()` in its loop; it costs one relaxed load. The thread that came from
// Python also calls `attend()`, which looks at the clock now and then and, twenty times a second,
// hands control to `on_tick` (Python signals, progress). Nothing here knows about Python.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "points.hpp"

namespace quadsweep {

struct Progress {
    double score = undefined, bound = infinity;
    std::uint64_t nodes = 0;
    double seconds = 0;
};

class Control {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Control(double time_limit = infinity) : time_limit_(time_limit) {}

    // Returns false to interrupt. Called from the thread that calls attend().
    std::function<bool(const Progress&)> on_tick;

    bool stopped() const { return stop_.load(std::memory_order_relaxed) != running; }
    // The same with a look at the clock, from any thread: for steps that may be left half done.
    bool over() const { return stopped() || seconds() >= time_limit_; }
    void interrupt() { stop(interrupted); }
    void out_of_memory() { stop(no_memory); }

    template <class Describe>
    bool attend(Describe&& describe) {
        if (++calls_ % 64 == 0) look(describe);
        return stopped();
    }
    bool attend() {
        return attend([] { return Progress{}; });
    }
    // The clock, now: for callers whose single steps are long.
    template <class Describe>
    void look(Describe&& describe) {
        const double now = seconds();
        if (now >= time_limit_) stop(out_of_time);
        if (on_tick && now >= next_tick_) {
            next_tick_ = now + 0.05;
            Progress p = describe();
            p.seconds = now;
            if (!on_tick(p)) stop(interrupted);
        }
    }

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    Status status(Status when_finished) const {
        switch (stop_.load()) {
            case out_of_time:
                return Status::time_limit;
            case interrupted:
                return Status::interrupted;
            case no_memory:
                return Status::memory_limit;
            default:
                return when_finished;
        }
    }

  private:
    enum Reason : int { running, out_of_time, interrupted, no_memory };

    void stop(Reason why) {
        int expected = running;
        stop_.compare_exchange_strong(expected, why);
    }

    Clock::time_point start_ = Clock::now();
    double time_limit_;
    double next_tick_ = 0.05;
    std::uint64_t calls_ = 0;
    std::atomic<int> stop_{running};
};

}  // namespace quadsweep
