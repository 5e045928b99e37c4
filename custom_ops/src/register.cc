// The entry point that ONNX Runtime calls when the library is registered with a session, and the
// table of operators: one for each element type and each type of f, all called ScatterX.
//
// The operator is in several domains, onnx_scatterx, onnx_scatterx.2 and so on: if a model's
// ScatterX nodes have different fallback functions, each of these has a domain of its own.
//
// A process may hold several ONNX Runtimes, each with an API of its own. Domains belong to the one
// that made them, so each has its own set.
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "infer.h"
#include "node.h"
#include "scatterx/element.h"
#include "scatterx/ort_abi.h"
#include "status.h"
#include "stay.h"

namespace scatterx {

namespace {

constexpr char kDomain[] = "onnx_scatterx";
constexpr std::size_t kDomainCount = 8;
constexpr char kName[] = "ScatterX";
constexpr char kOldest[] = "1.18";

constexpr ElementType kTypes[] = {
    ElementType::kFloat,          ElementType::kDouble,     ElementType::kFloat16,
    ElementType::kBFloat16,       ElementType::kInt8,       ElementType::kInt16,
    ElementType::kInt32,          ElementType::kInt64,      ElementType::kUInt8,
    ElementType::kUInt16,         ElementType::kUInt32,     ElementType::kUInt64,
    ElementType::kBool,           ElementType::kString,     ElementType::kFloat8E4M3FN,
    ElementType::kFloat8E4M3FNUZ, ElementType::kFloat8E5M2, ElementType::kFloat8E5M2FNUZ,
    ElementType::kUInt4,          ElementType::kInt4,       ElementType::kFloat4E2M1,
};
constexpr std::size_t kTypeCount = std::size(kTypes);

// The first ONNX Runtime 1.x that has the type.
int MinorVersionOf(ElementType type) {
  if (type == ElementType::kFloat4E2M1) return 23;
  return IsPacked(type) ? 19 : 18;
}

struct Operator : ort::CustomOp {
  const OrtApi* api;  // of the ONNX Runtime that it is registered with
  bool lends_dims;    // the API has the slot for it
  ElementType type;
  ElementType table_type;  // int32 or int64
};

const Operator& Self(const ort::CustomOp* op) { return *static_cast<const Operator*>(op); }

// GetMayInplace returns two arrays, which ONNX Runtime passes to ReleaseMayInplace: output 0 may
// use input 0's memory.
int in_place_index = 0;

Operator MakeOperator(const OrtApi* table, bool lends_dims, ElementType type,
                      ElementType table_type) {
  Operator op{};
  op.api = table;
  op.lends_dims = lends_dims;
  op.type = type;
  op.table_type = table_type;
  op.version = ort::kApiVersion;
  op.GetName = [](const ort::CustomOp*) { return kName; };
  op.GetExecutionProviderType = [](const ort::CustomOp*) -> const char* { return nullptr; };
  op.GetInputTypeCount = [](const ort::CustomOp*) { return std::size_t{3}; };
  op.GetInputType = [](const ort::CustomOp* op, std::size_t index) {
    return static_cast<int>(index == 1 ? Self(op).table_type : Self(op).type);
  };
  op.GetOutputTypeCount = [](const ort::CustomOp*) { return std::size_t{1}; };
  op.GetOutputType = [](const ort::CustomOp* op, std::size_t) {
    return static_cast<int>(Self(op).type);
  };
  op.GetInputCharacteristic = [](const ort::CustomOp*, std::size_t) { return 0; };   // required
  op.GetOutputCharacteristic = [](const ort::CustomOp*, std::size_t) { return 0; };  // required
  op.GetInputMemoryType = [](const ort::CustomOp*, std::size_t) { return 0; };       // the default
  op.CreateKernelV2 = [](const ort::CustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                         void** kernel) {
    return AsStatus(ort::Api(api), [&] {
      *kernel = new Node(api, Self(op).lends_dims, info, Self(op).type,
                         Self(op).table_type == ElementType::kInt64);
    });
  };
  op.KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
    Node& node = *static_cast<Node*>(kernel);
    return AsStatus(node.api(), [&] { node.Compute(context); });
  };
  op.KernelDestroy = [](void* kernel) { delete static_cast<Node*>(kernel); };
  op.InferOutputShapeFn = [](const ort::CustomOp* op, OrtShapeInferContext* context) {
    const ort::Api api(Self(op).api);
    return AsStatus(api, [&] { InferOutputShape(api, context); });
  };
  op.GetStartVersion = [](const ort::CustomOp*) { return 1; };
  op.GetEndVersion = [](const ort::CustomOp*) { return 0x7fffffff; };
  op.GetMayInplace = [](int** inputs, int** outputs) {
    *inputs = *outputs = &in_place_index;
    return std::size_t{1};
  };
  op.ReleaseMayInplace = [](int*, int*) {};
  return op;
}

// The x of "1.x.y"; later major versions know all types.
int MinorVersion(const std::string& version) {
  const std::size_t dot = version.find('.');
  if (std::atoi(version.c_str()) > 1) return 0x7fffffff;
  return dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
}

// The domains of one ONNX Runtime, and the operators in them.
class Registry {
 public:
  Registry(const OrtApi* table, const std::string& version) {
    const ort::Api api(table);
    for (std::size_t i = 0; i < kDomainCount; ++i) {
      const std::string name = i == 0 ? kDomain : kDomain + ("." + std::to_string(i + 1));
      Check(api.CreateCustomOpDomain(name.c_str(), &domains_[i]));
    }
    const bool lends_dims = MinorVersion(version) >= ort::kLendsDims;
    std::size_t count = 0;
    for (const ElementType type : kTypes) {
      if (MinorVersion(version) < MinorVersionOf(type)) continue;
      for (const ElementType table_type : {ElementType::kInt64, ElementType::kInt32}) {
        operators_[count] = MakeOperator(table, lends_dims, type, table_type);
        const ort::CustomOp* op = &operators_[count++];
        for (OrtCustomOpDomain* domain : domains_) Check(api.CustomOpDomain_Add(domain, op));
      }
    }
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  void AddTo(const ort::Api& api, OrtSessionOptions* options) const {
    for (OrtCustomOpDomain* domain : domains_) Check(api.AddCustomOpDomain(options, domain));
  }

 private:
  std::array<OrtCustomOpDomain*, kDomainCount> domains_ = {};
  std::array<Operator, 2 * kTypeCount> operators_ = {};
};

// The registry of an ONNX Runtime, made when it first asks. It lives as long as the process: ONNX
// Runtime keeps raw pointers to domains and operators.
const Registry& RegistryOf(const OrtApi* table, const std::string& version) {
  static std::mutex mutex;
  static auto& registries = *new std::map<const OrtApi*, std::unique_ptr<const Registry>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const Registry>& found = registries[table];
  if (!found) {
    StayLoaded();
    found = std::make_unique<const Registry>(table, version);
  }
  return *found;
}

}  // namespace

}  // namespace scatterx

#if defined(_WIN32)
#define SCATTERX_EXPORT __declspec(dllexport)
#else
#define SCATTERX_EXPORT __attribute__((visibility("default")))
#endif

extern "C" SCATTERX_EXPORT OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                        const scatterx::ort::ApiBase* base) {
  using namespace scatterx;
  const std::string version = base->GetVersionString();
  const OrtApi* table = MinorVersion(version) < static_cast<int>(ort::kApiVersion)
                            ? nullptr
                            : base->GetApi(ort::kApiVersion);
  if (table == nullptr) {
    // Every version of the table has CreateStatus, so an old ONNX Runtime gets the error, too.
    const OrtApi* first = base->GetApi(1);
    if (first == nullptr) std::abort();
    const std::string message = "onnx_scatterx needs ONNX Runtime " + std::string(kOldest) +
                                " or newer, and this is " + version;
    return ort::Api(first).CreateStatus(ort::kFail, message.c_str());
  }
  const ort::Api api(table);
  return AsStatus(api, [&] {
    RegistryOf(table, version).AddTo(api, options);
  });
}
