#include "pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "status.h"

namespace scatterx {

namespace {

// Counts the threads: there are as many tasks as the machine has threads. Each task waits a moment
// for the others to start. Tasks that run at the same time have different threads.
std::size_t CountConcurrentWorkers(const Parallel& pool, std::size_t most) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(500);
  std::atomic<std::size_t> present{0}, seen{1};
  std::atomic<bool> over{false};
  const auto deadline = Clock::now() + kPatience;
  pool.For(most, [&](std::size_t) {
    if (over.load()) return;
    const std::size_t now = present.fetch_add(1) + 1;
    for (std::size_t before = seen.load();
         before < now && !seen.compare_exchange_weak(before, now);) {
    }
    while (!over.load() && seen.load() < most) {
      if (Clock::now() > deadline) over.store(true);
    }
    present.fetch_sub(1);
  });
  return seen.load();
}

}  // namespace

std::size_t WorkerCount::Get(const Parallel& pool) {
  static const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
  // On a busy machine some threads may be missed: at runs 1, 2, 4, 8 ... they are counted again.
  const std::uint64_t run = ++runs_;
  if (count_.load() < most && (run & (run - 1)) == 0) {
    Parallel open = pool;
    open.workers = most;
    const std::size_t count = CountConcurrentWorkers(open, most);
    for (std::size_t before = count_.load();
         before < count && !count_.compare_exchange_weak(before, count);) {
    }
  }
  return count_.load();
}

Parallel PoolOf(Call& call) {
  Parallel pool;
  pool.pool = &call;
  pool.run = [](void* state, Parallel::Task task, void* task_state, std::size_t count) {
    Call& call = *static_cast<Call*>(state);
    Check(
        call.api.KernelContext_ParallelFor(call.context, task, count, std::size_t{0}, task_state));
  };
  return pool;
}

}  // namespace scatterx
