// Compares ort_abi.h with ONNX Runtime's own header, at compile time. Compiling this file is the
// whole check.
#include <onnxruntime_c_api.h>

#include <cstddef>
#include <type_traits>

#include "../tests/session_slots.h"
#include "scatterx/ort_abi.h"

namespace {

namespace ort = scatterx::ort;

// A type as ort_abi.h declares it: enumerations become int, noexcept is removed, and the two
// structs of ort_abi.h replace the official ones.
template <class T, bool kIsEnum = std::is_enum_v<T>>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<T, true> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <>
struct Plain<OrtCustomOp, false> {
  using type = ort::CustomOp;
};
template <>
struct Plain<OrtApiBase, false> {
  using type = ort::ApiBase;
};
template <class T>
struct Plain<const T, false> {
  using type = const typename Plain<T>::type;
};
template <class T>
struct Plain<T*, false> {
  using type = typename Plain<T>::type*;
};
template <class Result, class... Arguments>
struct Plain<Result(Arguments...), false> {
  using type = typename Plain<Result>::type(typename Plain<Arguments>::type...);
};
template <class Result, class... Arguments>
struct Plain<Result(Arguments...) noexcept, false> : Plain<Result(Arguments...), false> {};

template <class Official, class Ours>
inline constexpr bool kSame = std::is_same_v<typename Plain<Official>::type, Ours>;

using ort::CustomOp;

static_assert(ORT_API_VERSION >= ort::kApiVersion,
              "the official header is older than the API that is used");

#define CHECK_SLOT(number, name, ...)                                                           \
  static_assert(offsetof(OrtApi, name) == number * sizeof(void*), #name " is in another slot"); \
  static_assert(kSame<decltype(OrtApi::name), std::add_pointer_t<__VA_ARGS__>>,                 \
                #name " has another signature");
SCATTERX_ORT_SLOTS(CHECK_SLOT)
SCATTERX_SESSION_SLOTS(CHECK_SLOT)
#if ORT_API_VERSION >= 24
SCATTERX_ORT_SLOTS_24(CHECK_SLOT)
#endif
#undef CHECK_SLOT

#define CHECK_MEMBER(Official, Ours, name)                                                \
  static_assert(offsetof(Official, name) == offsetof(Ours, name), #name " is elsewhere"); \
  static_assert(kSame<decltype(Official::name), decltype(Ours::name)>, #name " has another type");

CHECK_MEMBER(OrtApiBase, ort::ApiBase, GetApi)
CHECK_MEMBER(OrtApiBase, ort::ApiBase, GetVersionString)

static_assert(sizeof(OrtCustomOp) >= sizeof(CustomOp));
CHECK_MEMBER(OrtCustomOp, CustomOp, version)
CHECK_MEMBER(OrtCustomOp, CustomOp, CreateKernel)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetName)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetExecutionProviderType)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetInputType)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetInputTypeCount)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetOutputType)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetOutputTypeCount)
CHECK_MEMBER(OrtCustomOp, CustomOp, KernelCompute)
CHECK_MEMBER(OrtCustomOp, CustomOp, KernelDestroy)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetInputCharacteristic)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetOutputCharacteristic)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetInputMemoryType)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetVariadicInputMinArity)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetVariadicInputHomogeneity)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetVariadicOutputMinArity)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetVariadicOutputHomogeneity)
CHECK_MEMBER(OrtCustomOp, CustomOp, CreateKernelV2)
CHECK_MEMBER(OrtCustomOp, CustomOp, KernelComputeV2)
CHECK_MEMBER(OrtCustomOp, CustomOp, InferOutputShapeFn)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetStartVersion)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetEndVersion)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetMayInplace)
CHECK_MEMBER(OrtCustomOp, CustomOp, ReleaseMayInplace)
CHECK_MEMBER(OrtCustomOp, CustomOp, GetAliasMap)
CHECK_MEMBER(OrtCustomOp, CustomOp, ReleaseAliasMap)

static_assert(ort::kFail == ORT_FAIL);
static_assert(ort::kInvalidArgument == ORT_INVALID_ARGUMENT);

}  // namespace
