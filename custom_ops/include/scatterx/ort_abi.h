// The part of ONNX Runtime's C ABI that this library calls, declared by hand.
//
// OrtApi is an append-only table of function pointers: a slot keeps its number and its signature in
// every later version, so a number and a signature are all that a caller needs. check/abi_check.cc
// compares this header with the official one. Enumerations of the official header are int here;
// they have the same size.
#pragma once

#include <cstddef>
#include <cstdint>

struct OrtApi;
struct OrtCustomOpDomain;
struct OrtKernelContext;
struct OrtKernelInfo;
struct OrtSessionOptions;
struct OrtShapeInferContext;
struct OrtStatus;
struct OrtTensorTypeAndShapeInfo;
struct OrtValue;

namespace scatterx::ort {

// The API version that is requested: the first with in-place custom operators (ONNX Runtime 1.18).
inline constexpr std::uint32_t kApiVersion = 18;

// OrtErrorCode
inline constexpr int kFail = 1;
inline constexpr int kInvalidArgument = 2;

// Slot(number, name, signature): the slots of API 18.
// clang-format off
#define SCATTERX_ORT_SLOTS(Slot)                                                                   \
  Slot(0, CreateStatus, OrtStatus*(int code, const char* message))                                 \
  Slot(26, CreateCustomOpDomain, OrtStatus*(const char* name, OrtCustomOpDomain** out))            \
  Slot(27, CustomOpDomain_Add, OrtStatus*(OrtCustomOpDomain* domain, const CustomOp* op))          \
  Slot(28, AddCustomOpDomain, OrtStatus*(OrtSessionOptions* to, OrtCustomOpDomain* domain))        \
  Slot(51, GetTensorMutableData, OrtStatus*(OrtValue* value, void** out))                          \
  Slot(53, GetStringTensorDataLength, OrtStatus*(const OrtValue* value, std::size_t* out))         \
  Slot(54, GetStringTensorContent,                                                                 \
       OrtStatus*(const OrtValue* value, void* bytes, std::size_t length, std::size_t* offsets,    \
                  std::size_t count))                                                              \
  Slot(57, CreateTensorTypeAndShapeInfo, OrtStatus*(OrtTensorTypeAndShapeInfo** out))              \
  Slot(58, SetTensorElementType, OrtStatus*(OrtTensorTypeAndShapeInfo* info, int type))            \
  Slot(59, SetDimensions,                                                                          \
       OrtStatus*(OrtTensorTypeAndShapeInfo* info, const std::int64_t* dims, std::size_t rank))    \
  Slot(60, GetTensorElementType, OrtStatus*(const OrtTensorTypeAndShapeInfo* info, int* out))      \
  Slot(61, GetDimensionsCount,                                                                     \
       OrtStatus*(const OrtTensorTypeAndShapeInfo* info, std::size_t* out))                        \
  Slot(62, GetDimensions,                                                                          \
       OrtStatus*(const OrtTensorTypeAndShapeInfo* info, std::int64_t* dims, std::size_t rank))    \
  Slot(63, GetSymbolicDimensions,                                                                  \
       OrtStatus*(const OrtTensorTypeAndShapeInfo* info, const char** names, std::size_t rank))    \
  Slot(65, GetTensorTypeAndShape,                                                                  \
       OrtStatus*(const OrtValue* value, OrtTensorTypeAndShapeInfo** out))                         \
  Slot(85, KernelInfoGetAttribute_float,                                                           \
       OrtStatus*(const OrtKernelInfo* info, const char* name, float* out))                        \
  Slot(86, KernelInfoGetAttribute_int64,                                                           \
       OrtStatus*(const OrtKernelInfo* info, const char* name, std::int64_t* out))                 \
  Slot(87, KernelInfoGetAttribute_string,                                                          \
       OrtStatus*(const OrtKernelInfo* info, const char* name, char* out, std::size_t* size))      \
  Slot(90, KernelContext_GetInput,                                                                 \
       OrtStatus*(const OrtKernelContext* context, std::size_t index, const OrtValue** out))       \
  Slot(91, KernelContext_GetOutput,                                                                \
       OrtStatus*(OrtKernelContext* context, std::size_t index, const std::int64_t* dims,          \
                  std::size_t rank, OrtValue** out))                                               \
  Slot(93, ReleaseStatus, void(OrtStatus* status))                                                 \
  Slot(99, ReleaseTensorTypeAndShapeInfo, void(OrtTensorTypeAndShapeInfo* info))                   \
  Slot(162, KernelInfoGetAttributeArray_float,                                                     \
       OrtStatus*(const OrtKernelInfo* info, const char* name, float* out, std::size_t* size))     \
  Slot(163, KernelInfoGetAttributeArray_int64,                                                     \
       OrtStatus*(const OrtKernelInfo* info, const char* name, std::int64_t* out,                  \
                  std::size_t* size))                                                              \
  Slot(249, KernelInfoGetConstantInput_tensor,                                                     \
       OrtStatus*(const OrtKernelInfo* info, std::size_t index, int* is_constant,                  \
                  const OrtValue** out))                                                           \
  Slot(252, GetResizedStringTensorElementBuffer,                                                   \
       OrtStatus*(OrtValue* value, std::size_t index, std::size_t length, char** out))             \
  Slot(268, ShapeInferContext_GetInputTypeShape,                                                   \
       OrtStatus*(const OrtShapeInferContext* context, std::size_t index,                          \
                  OrtTensorTypeAndShapeInfo** out))                                                \
  Slot(270, ShapeInferContext_SetOutputTypeShape,                                                  \
       OrtStatus*(const OrtShapeInferContext* context, std::size_t index,                          \
                  const OrtTensorTypeAndShapeInfo* info))                                          \
  Slot(271, SetSymbolicDimensions,                                                                 \
       OrtStatus*(OrtTensorTypeAndShapeInfo* info, const char** names, std::size_t rank))          \
  Slot(274, KernelContext_ParallelFor,                                                             \
       OrtStatus*(const OrtKernelContext* context, void (*task)(void* state, std::size_t index),   \
                  std::size_t count, std::size_t batches, void* state))

// A slot of API 24, called if the ONNX Runtime is new enough: it returns a reference to a tensor's
// dims. An older ONNX Runtime copies the dims into a description, which costs more than a small
// scatter.
inline constexpr int kLendsDims = 24;
#define SCATTERX_ORT_SLOTS_24(Slot)                                                                \
  Slot(414, GetTensorElementTypeAndShapeDataReference,                                             \
       OrtStatus*(const OrtValue* value, int* type, const std::int64_t** dims,                     \
                  std::size_t* rank))
// clang-format on

// OrtApiBase
struct ApiBase {
  const OrtApi* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};

// OrtCustomOp at version 18. Later versions add no member.
struct CustomOp {
  std::uint32_t version;
  void* (*CreateKernel)(const CustomOp* op, const OrtApi* api, const OrtKernelInfo* info);
  const char* (*GetName)(const CustomOp* op);
  const char* (*GetExecutionProviderType)(const CustomOp* op);
  int (*GetInputType)(const CustomOp* op, std::size_t index);
  std::size_t (*GetInputTypeCount)(const CustomOp* op);
  int (*GetOutputType)(const CustomOp* op, std::size_t index);
  std::size_t (*GetOutputTypeCount)(const CustomOp* op);
  void (*KernelCompute)(void* kernel, OrtKernelContext* context);
  void (*KernelDestroy)(void* kernel);
  int (*GetInputCharacteristic)(const CustomOp* op, std::size_t index);
  int (*GetOutputCharacteristic)(const CustomOp* op, std::size_t index);
  int (*GetInputMemoryType)(const CustomOp* op, std::size_t index);
  int (*GetVariadicInputMinArity)(const CustomOp* op);
  int (*GetVariadicInputHomogeneity)(const CustomOp* op);
  int (*GetVariadicOutputMinArity)(const CustomOp* op);
  int (*GetVariadicOutputHomogeneity)(const CustomOp* op);
  OrtStatus* (*CreateKernelV2)(const CustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                               void** kernel);
  OrtStatus* (*KernelComputeV2)(void* kernel, OrtKernelContext* context);
  OrtStatus* (*InferOutputShapeFn)(const CustomOp* op, OrtShapeInferContext* context);
  int (*GetStartVersion)(const CustomOp* op);
  int (*GetEndVersion)(const CustomOp* op);
  std::size_t (*GetMayInplace)(int** inputs, int** outputs);
  void (*ReleaseMayInplace)(int* inputs, int* outputs);
  std::size_t (*GetAliasMap)(int** inputs, int** outputs);
  void (*ReleaseAliasMap)(int* inputs, int* outputs);
};

// Api(table).CreateStatus(code, message) and so on: the table, with the slots above as typed
// functions.
class Api {
 public:
  explicit Api(const OrtApi* table) : table_(table) {}

#define SCATTERX_ORT_SLOT(number, name, ...)                                             \
  template <class... Arguments>                                                          \
  auto name(Arguments... arguments) const {                                              \
    using Signature = __VA_ARGS__;                                                       \
    return reinterpret_cast<Signature*>(reinterpret_cast<void* const*>(table_)[number])( \
        arguments...);                                                                   \
  }
  SCATTERX_ORT_SLOTS(SCATTERX_ORT_SLOT)
  SCATTERX_ORT_SLOTS_24(SCATTERX_ORT_SLOT)
#undef SCATTERX_ORT_SLOT

 private:
  const OrtApi* table_;
};

}  // namespace scatterx::ort
