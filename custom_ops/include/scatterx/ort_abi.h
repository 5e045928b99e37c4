// The part of ONNX Runtime's C ABI that this library calls, declared by hand.
//
// OrtApi is an append-only table of function pointers: a slot keeps its number and its signature
// in every later version, so a slot number and a signature are all that a caller needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scatterx::ort {

struct Status;
struct SessionOptions;
struct CustomOpDomain;
struct Api;

struct ApiBase {
  const Api* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};

// The API version asked for: the first with in-place custom operators (ONNX Runtime 1.18).
inline constexpr uint32_t kApiVersion = 18;

enum Slot : std::size_t {
  kCreateCustomOpDomain = 26,
  kAddCustomOpDomain = 28,
};

// The function in slot `kSlot` of the table, as a pointer to `Signature`.
template <typename Signature>
Signature* Call(const Api* api, Slot slot) {
  return reinterpret_cast<Signature*>(reinterpret_cast<void* const*>(api)[slot]);
}

}  // namespace scatterx::ort
