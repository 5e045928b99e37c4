// The library as ONNX Runtime loads it, with an ONNX Runtime that is too old.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "check.h"
#include "scatterx/ort_abi.h"

namespace {

int status_code = 0;
std::string status_message;
int made_up;

OrtStatus* CreateStatus(int code, const char* message) {
  status_code = code;
  status_message = message;
  return reinterpret_cast<OrtStatus*>(&made_up);
}

void* first_table[] = {reinterpret_cast<void*>(&CreateStatus)};

}  // namespace

int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr) << dlerror();
  if (library == nullptr) return 1;
  const auto entry =
      reinterpret_cast<OrtStatus* (*)(OrtSessionOptions*, const scatterx::ort::ApiBase*)>(
          dlsym(library, "RegisterCustomOps"));
  const scatterx::ort::ApiBase old = {
      [](std::uint32_t version) {
        return version == 1 ? reinterpret_cast<const OrtApi*>(first_table) : nullptr;
      },
      [] { return "1.17.3"; }};
  CHECK(entry(nullptr, &old) != nullptr);
  CHECK(status_code == scatterx::ort::kFail);
  CHECK(status_message == "onnx_scatterx needs ONNX Runtime 1.18 or newer, and this is 1.17.3")
      << status_message;
  return Failures() != 0;
}
