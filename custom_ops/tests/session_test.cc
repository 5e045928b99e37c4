// The library in a real ONNX Runtime, without Python: models of one ScatterX node are run, and the
// outputs are compared bit for bit.
//
//     session_test ONNXRUNTIME LIBRARY CASES
//
// CASES is a file of cases until its end; a number is an int64, a text is its size and its bytes.
//
//     case     name, model, data, f, updates, bytes of the output
//     tensor   element type, number of dims, dims, bytes                 data, f and updates
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"
#include "loading.h"
#include "session_slots.h"

namespace {

using scatterx::ort::ApiBase;

// The table of functions that runs models, and their arguments.
class Runtime {
 public:
#define SLOT(number, name, ...)                                                          \
  template <class... Arguments>                                                          \
  auto name(Arguments... arguments) const {                                              \
    using Signature = __VA_ARGS__;                                                       \
    return reinterpret_cast<Signature*>(reinterpret_cast<void* const*>(table_)[number])( \
        arguments...);                                                                   \
  }
  SCATTERX_SESSION_SLOTS(SLOT)
#undef SLOT

  Runtime(const ApiBase* base, const char* library)
      : table_(base->GetApi(scatterx::ort::kApiVersion)), library_(library, End(library)) {
    Hold(CreateEnv(2, "session_test", &env_), "CreateEnv");
    Hold(CreateCpuMemoryInfo(0, 0, &place_), "CreateCpuMemoryInfo");
  }
  ~Runtime() {
    ReleaseMemoryInfo(place_);
    ReleaseEnv(env_);
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  void Hold(OrtStatus* status, const char* what) const {
    CHECK(status == nullptr) << what << ": " << GetErrorMessage(status);
    if (status != nullptr) std::exit(1);
  }

  OrtSession* Open(const std::string& model, int threads) const {
    OrtSessionOptions* options = nullptr;
    OrtSession* session = nullptr;
    Hold(CreateSessionOptions(&options), "CreateSessionOptions");
    Hold(SetIntraOpNumThreads(options, threads), "SetIntraOpNumThreads");
    Hold(RegisterCustomOpsLibrary_V2(options, library_.c_str()), "RegisterCustomOpsLibrary_V2");
    Hold(CreateSessionFromArray(env_, model.data(), model.size(), options, &session),
         "CreateSessionFromArray");
    ReleaseSessionOptions(options);
    return session;
  }

  OrtValue* Tensor(std::string& bytes, const std::vector<std::int64_t>& dims, int type) const {
    OrtValue* value = nullptr;
    Hold(CreateTensorWithDataAsOrtValue(place_, bytes.data(), bytes.size(), dims.data(),
                                        dims.size(), type, &value),
         "CreateTensorWithDataAsOrtValue");
    return value;
  }

  std::string BytesOf(OrtValue* value, std::size_t size) const {
    void* bytes = nullptr;
    const scatterx::ort::Api api(table_);
    Hold(api.GetTensorMutableData(value, &bytes), "GetTensorMutableData");
    return {static_cast<const char*>(bytes), size};
  }

 private:
  static const char* End(const char* text) { return text + std::string(text).size(); }

  const OrtApi* table_;
  std::basic_string<PathChar> library_;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* place_ = nullptr;
};

class Cases {
 public:
  explicit Cases(const char* path) : file_(path, std::ios::binary) {}

  bool HasMore() { return file_.peek() != std::ifstream::traits_type::eof() && file_; }
  std::int64_t Number() {
    std::int64_t number = 0;
    file_.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
  }
  std::string Text() {
    std::string text(static_cast<std::size_t>(Number()), 0);
    file_.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
  }

 private:
  std::ifstream file_;
};

struct Input {
  explicit Input(Cases& cases) : type(static_cast<int>(cases.Number())) {
    dims.resize(static_cast<std::size_t>(cases.Number()));
    for (std::int64_t& dim : dims) dim = cases.Number();
    bytes = cases.Text();
  }

  int type;
  std::vector<std::int64_t> dims;
  std::string bytes;
};

void RunNext(const Runtime& runtime, Cases& cases) {
  const std::string name = cases.Text(), model = cases.Text();
  Input inputs[] = {Input(cases), Input(cases), Input(cases)};
  const std::string wanted = cases.Text();
  for (const int threads : {1, 3}) {
    OrtSession* session = runtime.Open(model, threads);
    OrtValue* values[3] = {};
    for (int i = 0; i < 3; ++i)
      values[i] = runtime.Tensor(inputs[i].bytes, inputs[i].dims, inputs[i].type);
    const char* names[] = {"data", "f", "updates"};
    const char* output = "output";
    OrtValue* result = nullptr;
    runtime.Hold(runtime.Run(session, nullptr, names, values, 3, &output, 1, &result), "Run");
    CHECK(runtime.BytesOf(result, wanted.size()) == wanted)
        << name << " on " << threads << " threads";
    for (OrtValue* value : values) runtime.ReleaseValue(value);
    runtime.ReleaseValue(result);
    runtime.ReleaseSession(session);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "session_test ONNXRUNTIME LIBRARY CASES\n";
    return 2;
  }
  void* loaded = Open(words[1]);
  CHECK(loaded != nullptr) << words[1];
  if (loaded == nullptr) return 1;
  const auto* base = reinterpret_cast<const ApiBase* (*)()>(Find(loaded, "OrtGetApiBase"))();
  const Runtime runtime(base, words[2]);
  Cases cases(words[3]);
  int run = 0;
  for (; cases.HasMore(); ++run) RunNext(runtime, cases);
  CHECK(run > 0) << "no cases in " << words[3];
  std::cout << "ONNX Runtime " << base->GetVersionString() << ": " << run
            << " models, each on 1 and on 3 threads, " << Failures() << " differ\n";
  return Failures() != 0;
}
