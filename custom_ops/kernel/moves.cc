// The processing of a batch of runs with known targets, for every element type and reduction.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "scatterx/bars.h"
#include "scatterx/batch.h"
#include "scatterx/copy.h"
#include "scatterx/cpu.h"
#include "scatterx/element.h"
#include "scatterx/reduce.h"

namespace scatterx {

namespace {

using namespace internal;

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
  batch.ForEachElement(
      output, kSize, reinterpret_cast<const T*>(updates),
      [=](std::int64_t target, T update) { std::memcpy(output + target * kSize, &update, kSize); });
}

#if SCATTERX_X86
__attribute__((target("avx2"))) void CopyRunsOfLines(char* output, const char* updates, Batch batch,
                                                     std::int64_t size) {
  const std::int64_t bytes = batch.length * size;
  for (std::int64_t i = 0; i < batch.count; ++i)
    CopyFewLines(output + batch.Target(i) * size, updates + batch.Source(i) * size, bytes);
}
#endif

// Runs that follow each other on both sides are moved as one.
void CopyLong(char* output, const char* updates, Batch batch, std::int64_t size) {
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
void ReduceRuns(char* output, const char* updates, Batch batch) {
  T* out = reinterpret_cast<T*>(output);
  const T* in = reinterpret_cast<const T*>(updates);
  if (batch.length == 1) {
    if constexpr (kHasBars<T, Reduce>)
      return ReduceByBars<T, Reduce, false>(output, updates, batch);
    const Reduce reduce;
    batch.ForEachElement(output, sizeof(T), in, [=](std::int64_t target, T update) {
      out[target] = reduce(out[target], update);
    });
  } else {
    HasAvx2() ? ReduceLongAvx2<T, Reduce>(out, in, batch) : ReduceLong<T, Reduce>(out, in, batch);
  }
}

template <class T, class Reduce>
Moves ReductionOf() {
  Moves moves{sizeof(T), false, ReduceRuns<T, Reduce>, {}};
  if constexpr (kHasBars<T, Reduce>)
    moves.form = {TurnIn<T, Reduce>, TurnOut<T, Reduce>, ReduceByBars<T, Reduce, true>};
  return moves;
}

template <class T>
Moves MovesOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return {sizeof(T), true, Copy<sizeof(T)>, {}};
    case Reduction::kAdd:
      return ReductionOf<T, Add>();
    case Reduction::kMul:
      return ReductionOf<T, Mul>();
    case Reduction::kMin:
      return ReductionOf<T, Min>();
    case Reduction::kMax:
      return ReductionOf<T, Max>();
  }
  return {};
}

}  // namespace

Moves FindMoves(ElementType type, Reduction reduction) {
  switch (type) {
    case ElementType::kFloat:
      return MovesOf<float>(reduction);
    case ElementType::kDouble:
      return MovesOf<double>(reduction);
    case ElementType::kFloat16:
      return MovesOf<Half>(reduction);
    case ElementType::kBFloat16:
      return MovesOf<BFloat16>(reduction);
    case ElementType::kInt8:
      return MovesOf<std::int8_t>(reduction);
    case ElementType::kInt16:
      return MovesOf<std::int16_t>(reduction);
    case ElementType::kInt32:
      return MovesOf<std::int32_t>(reduction);
    case ElementType::kInt64:
      return MovesOf<std::int64_t>(reduction);
    case ElementType::kUInt8:
      return MovesOf<std::uint8_t>(reduction);
    case ElementType::kUInt16:
      return MovesOf<std::uint16_t>(reduction);
    case ElementType::kUInt32:
      return MovesOf<std::uint32_t>(reduction);
    case ElementType::kUInt64:
      return MovesOf<std::uint64_t>(reduction);
    case ElementType::kBool:
      return MovesOf<Bool>(reduction);
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
      if (reduction == Reduction::kNone) return {1, true, Copy<1>, {}};
      return {};
    default:
      return {};
  }
}

}  // namespace scatterx
