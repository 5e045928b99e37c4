// A batch of runs with known targets, and the function that processes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/element.h"

namespace scatterx {

// An output of so many bytes does not fit the nearest caches.
inline constexpr std::int64_t kFar = 1 << 20;

// The distance of the data from the processor.
struct CacheHints {
  bool is_far = false;   // the output, and prefetching helps: see Batch::ForEach
  bool streams = false;  // the updates do not fit any cache: long runs are written past the caches
};

// Four numbers, read from memory in words. Random writes are nearly twice as fast after these as
// after reads of one number each.
template <class T>
struct Four {
  T at[4];

  SCATTERX_INLINE explicit Four(const T* from) {
    using Word = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
    constexpr std::size_t kParts = sizeof(Word) / sizeof(T);
    if constexpr (kParts <= 1 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
      std::memcpy(at, from, sizeof at);
    } else {
      for (std::size_t i = 0; i < 4; i += kParts) {
        Word word;
        std::memcpy(&word, from + i, sizeof word);
        for (std::size_t k = 0; k < kParts; ++k, word >>= sizeof(T) * 4, word >>= sizeof(T) * 4)
          std::memcpy(&at[i + k], &word, sizeof(T));
      }
    }
  }
};

// `count` runs of `length` elements, processed in this order. Run i begins at element targets[i] of
// the output and at element s * stride of the updates, where s is sources[i], or i if `sources` is
// null.
struct Batch {
  const std::uint32_t* targets;
  const std::uint32_t* sources;
  std::int64_t count;
  std::int64_t stride;
  std::int64_t length;
  CacheHints reach;

  std::int64_t Target(std::int64_t i) const { return targets[i]; }
  std::int64_t Source(std::int64_t i) const { return (sources ? sources[i] : i) * stride; }

  // body(target, source) for every run, with all choices made outside the loop. A line of a far
  // output is prefetched: writes wait for each other, prefetches do not.
  template <class Body>
  void ForEach(char* output, std::int64_t size, const Body& body) const {
    constexpr std::int64_t kAhead = 24;
    const std::uint32_t *to = targets, *from = sources;
    const std::int64_t step = stride;
    std::int64_t i = 0;
    if (reach.is_far) {
      const auto source = [=](std::int64_t k) { return (from ? from[k] : k) * step; };
      const auto ask = [=](std::int64_t k) {
        __builtin_prefetch(output + std::int64_t{to[k]} * size, 1);
      };
      for (std::int64_t k = 0; k < kAhead && k < count; ++k) ask(k);
      for (; i + kAhead < count; ++i) {
        ask(i + kAhead);
        body(to[i], source(i));
      }
    }
    const std::int64_t n = count;
    if (from != nullptr) {
      for (; i < n; ++i) body(to[i], from[i] * step);
    } else {
      for (; i < n; ++i) body(to[i], i * step);
    }
  }

  // body(target, update) for every run of one element, of `size` bytes in the output.
  template <class T, class Body>
  void ForEachElement(char* output, std::int64_t size, const T* updates, const Body& body) const {
    if (sources != nullptr || stride != 1) {
      return ForEach(output, size, [=](std::int64_t target, std::int64_t source) {
        body(target, updates[source]);
      });
    }
    ForEachFour(
        output, size,
        [=](std::int64_t i, const Four<std::uint32_t>& target) __attribute__((always_inline)) {
          const Four<T> update(updates + i);
          for (std::int64_t k = 0; k < 4; ++k) body(target.at[k], update.at[k]);
        },
        [=](std::int64_t i, std::int64_t target) { body(target, updates[i]); });
  }

  // four(i, targets) for runs i to i + 3, and one(i, target) for the last few.
  template <class Several, class Single>
  void ForEachFour(char* output, std::int64_t size, const Several& four, const Single& one) const {
    constexpr std::int64_t kAhead = 24, kTogether = 4;
    const std::uint32_t* to = targets;
    const std::int64_t n = count;
    const auto take = [=](std::int64_t i)
                          __attribute__((always_inline)) { four(i, Four<std::uint32_t>(to + i)); };
    std::int64_t i = 0;
    if (reach.is_far) {
      const auto ask = [=](std::int64_t k) {
        __builtin_prefetch(output + std::int64_t{to[k]} * size, 1);
      };
      for (std::int64_t k = 0; k < kAhead && k < n; ++k) ask(k);
      for (; i + kAhead + kTogether <= n; i += kTogether) {
        for (std::int64_t k = 0; k < kTogether; ++k) ask(i + kAhead + k);
        take(i);
      }
    }
    for (; i + kTogether <= n; i += kTogether) take(i);
    for (; i < n; ++i) one(i, to[i]);
  }
};

using Apply = void (*)(char* output, const char* updates, Batch batch);

// Another form of elements in which they are reduced faster, for an output that is written once
// more in any case: between `in` and `out`, which may work in place, it has elements of this form.
struct Form {
  void (*in)(char* to, const char* from, std::int64_t bytes) = nullptr;
  void (*out)(char* to, const char* from, std::int64_t bytes) = nullptr;
  Apply apply = nullptr;  // for runs of one element; null: there is no such form
};

// The batch function for one element type and reduction.
struct Moves {
  std::size_t bytes = 0;  // per element
  bool copies = false;    // reduction none: only the last run on an element counts
  Apply apply = nullptr;
  Form form;
};

// `apply` is null if the type does not have this reduction, is packed, or is not made of bytes
// (string).
Moves FindMoves(ElementType type, Reduction reduction);

}  // namespace scatterx
