// Loops that gain from AVX2 are compiled twice, and the processor decides which one runs.
//
//     SCATTERX_INLINE void Loop(...) {...}
//     SCATTERX_AVX2 inline void LoopAvx2(...) { Loop(...); }      the body again, with wider
//     vectors HasAvx2() ? LoopAvx2(...) : Loop(...)
#pragma once

#define SCATTERX_INLINE __attribute__((always_inline)) inline

#if defined(__x86_64__) && !defined(__AVX2__) && !defined(SCATTERX_PORTABLE)
#define SCATTERX_AVX2 __attribute__((target("avx2")))
#else
#define SCATTERX_AVX2
#endif

namespace scatterx {

inline bool HasAvx2() {
#if defined(__x86_64__) && !defined(__AVX2__) && !defined(SCATTERX_PORTABLE)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;  // nothing to choose from
#endif
}

}  // namespace scatterx
