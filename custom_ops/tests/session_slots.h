// The slots of OrtApi that a program calls to run a model, for session_test.cc. The library itself
// does not call them. check/abi_check.cc compares them with the official header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scatterx/ort_abi.h"

struct OrtEnv;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;

// A character of a path is wchar_t on Windows; the only path here is that of the library.
#if defined(_WIN32)
using PathChar = wchar_t;
#else
using PathChar = char;
#endif

// clang-format off
#define SCATTERX_SESSION_SLOTS(Slot)                                                               \
  Slot(2, GetErrorMessage, const char*(const OrtStatus* status))                                   \
  Slot(3, CreateEnv, OrtStatus*(int level, const char* name, OrtEnv** out))                        \
  Slot(8, CreateSessionFromArray,                                                                  \
       OrtStatus*(const OrtEnv* env, const void* model, std::size_t size,                          \
                  const OrtSessionOptions* options, OrtSession** out))                             \
  Slot(9, Run,                                                                                     \
       OrtStatus*(OrtSession* session, const OrtRunOptions* options, const char* const* inputs,    \
                  const OrtValue* const* values, std::size_t count, const char* const* outputs,    \
                  std::size_t wanted, OrtValue** out))                                             \
  Slot(10, CreateSessionOptions, OrtStatus*(OrtSessionOptions** out))                              \
  Slot(24, SetIntraOpNumThreads, OrtStatus*(OrtSessionOptions* options, int threads))              \
  Slot(49, CreateTensorWithDataAsOrtValue,                                                         \
       OrtStatus*(const OrtMemoryInfo* place, void* data, std::size_t size,                        \
                  const std::int64_t* dims, std::size_t rank, int type, OrtValue** out))           \
  Slot(69, CreateCpuMemoryInfo, OrtStatus*(int allocator, int type, OrtMemoryInfo** out))          \
  Slot(92, ReleaseEnv, void(OrtEnv* env))                                                          \
  Slot(94, ReleaseMemoryInfo, void(OrtMemoryInfo* place))                                          \
  Slot(95, ReleaseSession, void(OrtSession* session))                                              \
  Slot(96, ReleaseValue, void(OrtValue* value))                                                    \
  Slot(100, ReleaseSessionOptions, void(OrtSessionOptions* options))                               \
  Slot(228, RegisterCustomOpsLibrary_V2,                                                           \
       OrtStatus*(OrtSessionOptions* options, const PathChar* path))
// clang-format on
