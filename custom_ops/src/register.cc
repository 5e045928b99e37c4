// The entry point that ONNX Runtime calls when the library is registered with a session.
#include "scatterx/ort_abi.h"

namespace {

using namespace scatterx::ort;

constexpr char kDomain[] = "onnx_scatterx";

}  // namespace

// Adds the domain to the session. The domain lives as long as the process: ONNX Runtime keeps a
// raw pointer to it.
extern "C" __attribute__((visibility("default"))) Status* RegisterCustomOps(
    SessionOptions* options, const ApiBase* base) {
  const Api* api = base->GetApi(kApiVersion);
  if (api == nullptr) return nullptr;  // too old: there is no table to report an error with
  static CustomOpDomain* domain = nullptr;
  if (domain == nullptr) {
    Status* status = Call<Status*(const char*, CustomOpDomain**)>(api, kCreateCustomOpDomain)(
        kDomain, &domain);
    if (status != nullptr) return status;
  }
  return Call<Status*(SessionOptions*, CustomOpDomain*)>(api, kAddCustomOpDomain)(options, domain);
}
