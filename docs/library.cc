// Runs a model with the ScatterX library. The model writes rows: data[rows] = updates.
//
//     c++ -std=c++17 -I onnxruntime/include docs/library.cc -o library -lonnxruntime
//     ./library model.onnx /path/to/scatterx_ops.so
#include <onnxruntime_cxx_api.h>

#include <array>
#include <cstdint>
#include <cstdio>

int main(int count, char** words) try {
  if (count != 3) return 2;
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING);
  Ort::SessionOptions options;
  options.RegisterCustomOpsLibrary(words[2]);
  Ort::Session session(env, words[1], options);

  std::array<float, 8> data = {};
  std::array<std::int64_t, 2> rows = {3, 1};
  std::array<float, 4> updates = {1, 2, 3, 4};
  const std::array<std::int64_t, 2> data_shape = {4, 2}, rows_shape = {2, 1}, shape = {2, 2};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const std::array<Ort::Value, 3> inputs = {
      Ort::Value::CreateTensor<float>(memory, data.data(), 8, data_shape.data(), 2),
      Ort::Value::CreateTensor<std::int64_t>(memory, rows.data(), 2, rows_shape.data(), 2),
      Ort::Value::CreateTensor<float>(memory, updates.data(), 4, shape.data(), 2),
  };
  const char* names[] = {"data", "rows", "updates"};
  const char* output = "output";
  const auto outputs = session.Run({}, names, inputs.data(), 3, &output, 1);
  for (int i = 0; i < 8; ++i)
    std::printf("%s%g", i ? " " : "", outputs[0].GetTensorData<float>()[i]);
  std::printf("\n");
  return 0;
} catch (const Ort::Exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
