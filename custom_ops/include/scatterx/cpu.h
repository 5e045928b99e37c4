// Loops that gain from AVX2 are compiled twice, and the processor decides which one runs.
//
//     SCATTERX_INLINE void Loop(...) {...}
//     SCATTERX_AVX2 inline void LoopAvx2(...) { Loop(...); }      the body again, with wider
//     vectors HasAvx2() ? LoopAvx2(...) : Loop(...)
#pragma once

#if defined(__x86_64__) && !defined(SCATTERX_PORTABLE)
#define SCATTERX_X86 1
#else
#define SCATTERX_X86 0
#endif

#define SCATTERX_INLINE __attribute__((always_inline)) inline

#if SCATTERX_X86 && !defined(__AVX2__)
#define SCATTERX_AVX2 __attribute__((target("avx2")))
#else
#define SCATTERX_AVX2
#endif

namespace scatterx {

#if defined(__AVX2__)
inline constexpr bool kAlwaysAvx2 = true;
#else
inline constexpr bool kAlwaysAvx2 = false;
#endif

// Is there a choice, and is it AVX2?
inline bool HasAvx2() {
#if SCATTERX_X86 && !defined(__AVX2__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

}  // namespace scatterx
