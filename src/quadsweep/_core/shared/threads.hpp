// Threads, locks and what becomes of an exception, in the one place that knows that a page has none
// of them: compiled for WebAssembly (QUADSWEEP_NO_THREADS) there is one worker, nothing to lock,
// and running out of memory ends the program.
#pragma once

#ifdef QUADSWEEP_NO_THREADS

#include <chrono>

namespace quadsweep {

struct Mutex {
    void lock() {}
    void unlock() {}
};
struct Lock {
    explicit Lock(Mutex&) {}
    ~Lock() {}  // so that a lock that is only held counts as used
    void lock() {}
    void unlock() {}
};
struct Condition {
    template <class Duration>
    void wait_for(Lock&, Duration) {}
    void notify_all() {}
};

struct Thread {
    template <class Work, class... Arguments>
    explicit Thread(Work&& work, Arguments... arguments) {
        work(arguments...);
    }
};

// Keeps the first exception for the thread that waits for the others.
struct Failure {
    template <class Work, class Then>
    void keep(Work&& work, Then&&) {
        work();
    }
    void rethrow() {}
};

template <class Work, class Then>
void or_else(Work&& work, Then&&) {
    work();
}

}  // namespace quadsweep

#else

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace quadsweep {

using Mutex = std::mutex;
using Lock = std::unique_lock<std::mutex>;
using Condition = std::condition_variable;
using Thread = std::jthread;

// Keeps the first exception for the thread that waits for the others.
class Failure {
  public:
    // Does `work`; if it fails, `then`.
    template <class Work, class Then>
    void keep(Work&& work, Then&& then) {
        try {
            work();
        } catch (...) {
            const Lock lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            then();
        }
    }
    void rethrow() {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    std::exception_ptr failure_;
    Mutex mutex_;
};

// Does `work`; if it fails, `then`, and fails.
template <class Work, class Then>
void or_else(Work&& work, Then&& then) {
    try {
        work();
    } catch (...) {
        then();
        throw;
    }
}

}  // namespace quadsweep

#endif
