// Tasks 0..count-1 over threads, handed out in order. The calling thread is worker 0 and is the
// only one that may talk to Control::attend.
#pragma once

#include <cstdint>
#include <functional>

namespace quadsweep {

// body(worker, task) -> false to stop taking tasks.
void parallel_for(int n_jobs, std::int64_t count,
                  const std::function<bool(int worker, std::int64_t task)>& body);

}  // namespace quadsweep
