// Loops that gain from AVX2 are compiled twice, and the processor decides which one runs.
//
//     SCATTERX_INLINE void Loop(...) {...}
//     SCATTERX_AVX2 inline void LoopAvx2(...) { Loop(...); }      the body again, with wider
//     vectors HasAvx2() ? LoopAvx2(...) : Loop(...)
#pragma once

#if defined(__x86_64__) && !defined(SCATTERX_PORTABLE)
#include <cpuid.h>
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

// Does `rep movsb` move long stretches at least as fast as any loop? (ERMS, bit 9 of EBX of leaf 7)
// No with AddressSanitizer and ThreadSanitizer, which do not see the bytes that an instruction
// moves.
inline bool HasFastMoves() {
#if SCATTERX_X86 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 9 & 1) != 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace scatterx
