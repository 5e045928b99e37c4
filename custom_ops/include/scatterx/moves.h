// The processing of a batch of runs with known targets, for every element type and reduction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "scatterx/bars.h"
#include "scatterx/copy.h"
#include "scatterx/cpu.h"
#include "scatterx/element.h"
#include "scatterx/reduce.h"

namespace scatterx {

// An output of so many bytes does not fit the nearest caches.
inline constexpr std::int64_t kFar = 1 << 20;

// The distance of the data from the processor.
struct Reach {
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
  Reach reach;

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
    constexpr std::int64_t kAhead = 24, kTogether = 4;
    const std::uint32_t* to = targets;
    const std::int64_t n = count;
    const auto take = [=](std::int64_t i) __attribute__((always_inline)) {
      const Four<std::uint32_t> target(to + i);
      const Four<T> update(updates + i);
      for (std::int64_t k = 0; k < kTogether; ++k) body(target.at[k], update.at[k]);
    };
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
    for (; i < n; ++i) body(to[i], updates[i]);
  }
};

// The batch function for one element type and reduction.
struct Moves {
  std::size_t bytes = 0;  // per element
  bool copies = false;    // reduction none: only the last run on an element counts
  void (*apply)(char* output, const char* updates, Batch batch) = nullptr;
};

namespace internal {

// Runs of `kBytes` bytes, of elements of `size` bytes.
template <std::size_t kBytes, std::int64_t size>
void CopyShort(char* output, const char* updates, Batch batch) {
  batch.ForEach(output, size, [=](std::int64_t target, std::int64_t source) {
    std::memcpy(output + target * size, updates + source * size, kBytes);
  });
}

template <std::size_t kSize>
using Bytes = std::conditional_t<
    kSize == 1, std::uint8_t,
    std::conditional_t<kSize == 2, std::uint16_t,
                       std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>>>;

template <std::size_t kSize>
void CopyElements(char* output, const char* updates, Batch batch) {
  using T = Bytes<kSize>;
  batch.ForEachElement(output, kSize, reinterpret_cast<const T*>(updates),
                       [=](std::int64_t target, T update) {
                         std::memcpy(output + target * kSize, &update, kSize);
                       });
}

#if SCATTERX_X86
__attribute__((target("avx2"))) inline void CopyRunsOfLines(char* output, const char* updates,
                                                            Batch batch, std::int64_t size) {
  const std::int64_t bytes = batch.length * size;
  for (std::int64_t i = 0; i < batch.count; ++i)
    CopyFewLines(output + batch.Target(i) * size, updates + batch.Source(i) * size, bytes);
}
#endif

// Runs that follow each other on both sides are moved as one.
inline void CopyLong(char* output, const char* updates, Batch batch, std::int64_t size) {
  const bool joins = batch.sources == nullptr && batch.stride == batch.length;
  for (std::int64_t i = 0; i < batch.count;) {
    const std::int64_t first = i++;
    std::int64_t length = batch.length;
    for (; joins && i < batch.count && batch.Target(i) == batch.Target(first) + length; ++i) {
      length += batch.length;
    }
    char* to = output + batch.Target(first) * size;
    const char* from = updates + batch.Source(first) * size;
    if (batch.reach.streams) {
      Stream(to, from, length * size);
    } else {
      CopyBytes(to, from, length * size);
    }
  }
  if (batch.reach.streams) FinishStreaming();
}

template <std::size_t kSize>
void Copy(char* output, const char* updates, Batch batch) {
  constexpr std::int64_t size = kSize;
  switch (batch.length * size) {
    case kSize:
      return CopyElements<kSize>(output, updates, batch);
    case 2 * kSize:
      return CopyShort<2 * kSize, size>(output, updates, batch);
    case 3 * kSize:
      return CopyShort<3 * kSize, size>(output, updates, batch);
    case 4 * kSize:
      return CopyShort<4 * kSize, size>(output, updates, batch);
    case 8 * kSize:
      return CopyShort<8 * kSize, size>(output, updates, batch);
    case 16 * kSize:
      return CopyShort<16 * kSize, size>(output, updates, batch);
  }
#if SCATTERX_X86
  const std::int64_t bytes = batch.length * size;
  if (bytes >= kVector && bytes <= kFewLines && (HasAvx2() || kAlwaysAvx2))
    return CopyRunsOfLines(output, updates, batch, size);
#endif
  CopyLong(output, updates, batch, size);
}

// to[j] = reduce(to[j], from[j]), a block at a time: loops of a fixed length become vectors without
// a prologue, which a short run would pay for.
template <class T, class Reduce>
SCATTERX_INLINE void ReduceRun(T* __restrict to, const T* __restrict from, std::int64_t length) {
  constexpr std::int64_t kLanes = 32 / static_cast<std::int64_t>(sizeof(T));
  const Reduce reduce;
  std::int64_t j = 0;
  for (; j + kLanes <= length; j += kLanes) {
    for (std::int64_t k = j; k < j + kLanes; ++k) to[k] = reduce(to[k], from[k]);
  }
  for (; j < length; ++j) to[j] = reduce(to[j], from[j]);
}

template <class T, class Reduce>
SCATTERX_INLINE void ReduceLong(T* out, const T* in, Batch batch) {
  for (std::int64_t i = 0; i < batch.count; ++i)
    ReduceRun<T, Reduce>(out + batch.Target(i), in + batch.Source(i), batch.length);
}
template <class T, class Reduce>
SCATTERX_AVX2 void ReduceLongAvx2(T* out, const T* in, Batch batch) {
  ReduceLong<T, Reduce>(out, in, batch);
}

template <class T, class Reduce>
constexpr bool HasBars() {
  return std::is_same_v<T, Half> && (std::is_same_v<Reduce, Min> || std::is_same_v<Reduce, Max>);
}

template <class Reduce>
SCATTERX_INLINE void PackUpdates(const Half* in, const Batch& batch, std::int64_t first,
                                 std::int64_t count, std::uint32_t* packed) {
  if (batch.sources == nullptr && batch.stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) packed[i] = Bars<Reduce>::Pack(in[first + i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      packed[i] = Bars<Reduce>::Pack(in[batch.Source(first + i)]);
  }
}
template <class Reduce>
SCATTERX_AVX2 void PackUpdatesAvx2(const Half* in, const Batch& batch, std::int64_t first,
                                   std::int64_t count, std::uint32_t* packed) {
  PackUpdates<Reduce>(in, batch, first, count, packed);
}

template <class Reduce>
void ReduceByBars(Half* out, const Half* in, Batch batch) {
  constexpr std::int64_t kAtOnce = 512;
  std::uint32_t packed[kAtOnce];
  for (std::int64_t first = 0; first < batch.count; first += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, batch.count - first);
    HasAvx2() ? PackUpdatesAvx2<Reduce>(in, batch, first, count, packed)
              : PackUpdates<Reduce>(in, batch, first, count, packed);
    const Batch part{batch.targets + first, nullptr, count, 1, 1, batch.reach};
    part.ForEachElement(reinterpret_cast<char*>(out), sizeof(Half), packed,
                        [=](std::int64_t target, std::uint32_t update) {
                          out[target] = Bars<Reduce>::Apply(out[target], update);
                        });
  }
}

template <class T, class Reduce>
void ReduceRuns(char* output, const char* updates, Batch batch) {
  T* out = reinterpret_cast<T*>(output);
  const T* in = reinterpret_cast<const T*>(updates);
  if (batch.length == 1 && HasBars<T, Reduce>()) {
    if constexpr (HasBars<T, Reduce>()) ReduceByBars<Reduce>(out, in, batch);
  } else if (batch.length == 1) {
    const Reduce reduce;
    batch.ForEachElement(output, sizeof(T), in, [=](std::int64_t target, T update) {
      out[target] = reduce(out[target], update);
    });
  } else {
    HasAvx2() ? ReduceLongAvx2<T, Reduce>(out, in, batch) : ReduceLong<T, Reduce>(out, in, batch);
  }
}

template <class T>
Moves MovesOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return {sizeof(T), true, Copy<sizeof(T)>};
    case Reduction::kAdd:
      return {sizeof(T), false, ReduceRuns<T, Add>};
    case Reduction::kMul:
      return {sizeof(T), false, ReduceRuns<T, Mul>};
    case Reduction::kMin:
      return {sizeof(T), false, ReduceRuns<T, Min>};
    case Reduction::kMax:
      return {sizeof(T), false, ReduceRuns<T, Max>};
  }
  return {};
}

}  // namespace internal

// `apply` is null if the type does not have this reduction, is packed, or is not made of bytes
// (string).
inline Moves FindMoves(ElementType type, Reduction reduction) {
  switch (type) {
    case ElementType::kFloat:
      return internal::MovesOf<float>(reduction);
    case ElementType::kDouble:
      return internal::MovesOf<double>(reduction);
    case ElementType::kFloat16:
      return internal::MovesOf<Half>(reduction);
    case ElementType::kBFloat16:
      return internal::MovesOf<BFloat16>(reduction);
    case ElementType::kInt8:
      return internal::MovesOf<std::int8_t>(reduction);
    case ElementType::kInt16:
      return internal::MovesOf<std::int16_t>(reduction);
    case ElementType::kInt32:
      return internal::MovesOf<std::int32_t>(reduction);
    case ElementType::kInt64:
      return internal::MovesOf<std::int64_t>(reduction);
    case ElementType::kUInt8:
      return internal::MovesOf<std::uint8_t>(reduction);
    case ElementType::kUInt16:
      return internal::MovesOf<std::uint16_t>(reduction);
    case ElementType::kUInt32:
      return internal::MovesOf<std::uint32_t>(reduction);
    case ElementType::kUInt64:
      return internal::MovesOf<std::uint64_t>(reduction);
    case ElementType::kBool:
      return internal::MovesOf<Bool>(reduction);
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
      if (reduction == Reduction::kNone) return {1, true, internal::Copy<1>};
      return {};
    default:
      return {};
  }
}

}  // namespace scatterx
