// The library as ONNX Runtime loads it, in simulated ONNX Runtimes: one that is too old, and two in
// one process.
#include <string>
#include <vector>

#include "check.h"
#include "loading.h"
#include "scatterx/ort_abi.h"

struct OrtCustomOpDomain {
  int runtime;
  std::vector<const scatterx::ort::CustomOp*> operators;
};

namespace {

using namespace scatterx;

int status_code = 0;
std::string status_message;
int made_up;

OrtStatus* CreateStatus(int code, const char* message) {
  status_code = code;
  status_message = message;
  return reinterpret_cast<OrtStatus*>(&made_up);
}

using Entry = OrtStatus* (*)(OrtSessionOptions*, const ort::ApiBase*);

void TooOld(Entry entry) {
  static void* first_table[] = {reinterpret_cast<void*>(&CreateStatus)};
  const ort::ApiBase old = {[](std::uint32_t version) {
                              return version == 1 ? reinterpret_cast<const OrtApi*>(first_table)
                                                  : nullptr;
                            },
                            [] { return "1.17.3"; }};
  CHECK(entry(nullptr, &old) != nullptr);
  CHECK(status_code == ort::kFail);
  CHECK(status_message == "onnx_scatterx needs ONNX Runtime 1.18 or newer, and this is 1.17.3")
      << status_message;
}

// The calls to the ONNX Runtime number `kNumber`.
template <int kNumber>
struct Runtime {
  static inline std::vector<OrtCustomOpDomain*> made, added;
  static inline int inferences = 0;
  static inline void* table[500] = {};

  static OrtStatus* CreateCustomOpDomain(const char*, OrtCustomOpDomain** out) {
    made.push_back(*out = new OrtCustomOpDomain{kNumber, {}});
    return nullptr;
  }
  static OrtStatus* Add(OrtCustomOpDomain* domain, const ort::CustomOp* op) {
    CHECK(domain->runtime == kNumber) << "runtime " << kNumber;
    domain->operators.push_back(op);
    return nullptr;
  }
  static OrtStatus* AddCustomOpDomain(OrtSessionOptions*, OrtCustomOpDomain* domain) {
    CHECK(domain->runtime == kNumber)
        << "runtime " << kNumber << " is handed a domain of runtime " << domain->runtime;
    added.push_back(domain);
    return nullptr;
  }
  static OrtStatus* GetInputTypeShape(const OrtShapeInferContext*, std::size_t,
                                      OrtTensorTypeAndShapeInfo**) {
    ++inferences;
    return nullptr;
  }
  static OrtStatus* GetDimensionsCount(const OrtTensorTypeAndShapeInfo*, std::size_t* out) {
    *out = 0;
    return nullptr;
  }

  static void Register(Entry entry, const char* (*version)()) {
    table[0] = reinterpret_cast<void*>(&CreateStatus);
    table[26] = reinterpret_cast<void*>(&CreateCustomOpDomain);
    table[27] = reinterpret_cast<void*>(&Add);
    table[28] = reinterpret_cast<void*>(&AddCustomOpDomain);
    table[61] = reinterpret_cast<void*>(&GetDimensionsCount);
    table[268] = reinterpret_cast<void*>(&GetInputTypeShape);
    const ort::ApiBase base = {[](std::uint32_t) { return reinterpret_cast<const OrtApi*>(table); },
                               version};
    CHECK(entry(nullptr, &base) == nullptr) << status_message;
  }
};

// Each has domains that were made by it, once, and operators that call it.
void TwoInOneProcess(Entry entry) {
  using One = Runtime<1>;
  using Other = Runtime<2>;
  One::Register(entry, [] { return "1.31.1"; });
  Other::Register(entry, [] { return "1.18.1"; });
  One::Register(entry, [] { return "1.31.1"; });
  CHECK(One::made.size() == 8 && Other::made.size() == 8)
      << One::made.size() << " " << Other::made.size();
  CHECK(One::added.size() == 16 && Other::added.size() == 8)
      << One::added.size() << " " << Other::added.size();
  // float4 and the 4-bit integers are newer than 1.18.
  if (Other::made.empty()) return;
  CHECK(One::made[0]->operators.size() == 42) << One::made[0]->operators.size();
  CHECK(Other::made[0]->operators.size() == 36) << Other::made[0]->operators.size();
  const ort::CustomOp* op = One::made[0]->operators[0];
  CHECK(op->InferOutputShapeFn(op, nullptr) == nullptr);
  CHECK(One::inferences == 1 && Other::inferences == 0)
      << One::inferences << " " << Other::inferences;
}

}  // namespace

int main(int, char** argv) {
  void* library = Open(argv[1]);
  CHECK(library != nullptr) << argv[1];
  if (library == nullptr) return 1;
  const auto entry = reinterpret_cast<Entry>(Find(library, "RegisterCustomOps"));
  TooOld(entry);
  TwoInOneProcess(entry);
  // ONNX Runtime closes it with the last session, and another one opens it again.
  Close(library);
  CHECK(IsOpen(argv[1])) << "the library is unloaded";
  return Failures() != 0;
}
