// The threads of a caller, as two pointers and a number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scatterx {

// An update that is looked up costs about as much as so many bytes moved.
inline constexpr std::int64_t kBytesPerRun = 32;

struct Parallel {
  using Task = void (*)(void* state, std::size_t index);

  // Calls task(state, i) once for every i < count, on any threads, and returns when all are done.
  void (*run)(void* pool, Task task, void* state, std::size_t count) = nullptr;
  void* pool = nullptr;
  std::size_t workers = 1;       // threads that may run at the same time
  std::int64_t grain = 1 << 19;  // bytes that justify a task

  // How many tasks to use for moving so many bytes.
  std::size_t TasksFor(std::int64_t bytes) const {
    const std::int64_t tasks = bytes / grain, most = static_cast<std::int64_t>(workers);
    return static_cast<std::size_t>(tasks < 1 ? 1 : tasks < most ? tasks : most);
  }

  // The same for work that is not slower in smaller pieces. Each thread gets several tasks: if one
  // thread is late, the others continue.
  std::size_t PiecesFor(std::int64_t bytes) const {
    constexpr std::size_t kPieces = 4;
    Parallel finer = *this;
    finer.workers = workers > 1 ? workers * kPieces : 1;
    return finer.TasksFor(bytes);
  }

  // body(i) for every i < count. The body must not throw, and no two calls may write the same byte.
  template <class Body>
  void For(std::size_t count, const Body& body) const {
    if (count <= 1 || workers <= 1 || run == nullptr) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    run(
        pool, [](void* state, std::size_t i) { (*static_cast<const Body*>(state))(i); },
        const_cast<Body*>(&body), count);
  }
};

// The part of [0, total) that task `i` of `count` takes, as begin and end.
struct Part {
  std::int64_t begin, end;
};

inline Part PartOf(std::int64_t total, std::size_t i, std::size_t count) {
  const auto n = static_cast<std::int64_t>(count), k = static_cast<std::int64_t>(i);
  const std::int64_t each = total / n, rest = total % n;
  const std::int64_t begin = k * each + (k < rest ? k : rest);
  return {begin, begin + each + (k < rest ? 1 : 0)};
}

}  // namespace scatterx
