// Element types, by the numbers of ONNX's TensorProto.DataType, and reductions.
#pragma once

#include <cstdint>

namespace scatterx {

enum class ElementType : std::int32_t {
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
};

// Two elements a byte, the first one in the low bits.
inline bool IsPacked(ElementType type) {
  return type == ElementType::kUInt4 || type == ElementType::kInt4 ||
         type == ElementType::kFloat4E2M1;
}

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

}  // namespace scatterx
