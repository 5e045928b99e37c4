// The session's threads, in the form that the kernel uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "scatterx/ort_abi.h"
#include "scatterx/parallel.h"

namespace scatterx {

// One call of a kernel: its API and context, for Parallel.
struct Call {
  const ort::Api& api;
  OrtKernelContext* context;
};

// How many threads a session's pool has. The API does not say, so they are counted if there is
// enough work for more than one. They are counted again now and then, until all were seen.
class WorkerCount {
 public:
  std::size_t Get(const Parallel& pool);

 private:
  std::atomic<std::uint64_t> runs_{0};
  std::atomic<std::size_t> count_{1};
};

// The threads of the session that runs `call`.
Parallel PoolOf(Call& call);

}  // namespace scatterx
