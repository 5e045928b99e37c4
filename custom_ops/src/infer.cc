// Without a shape, ONNX Runtime never updates a temporary in place. But the input's own description
// would be wrong: an unknown rank reads as rank 0 and an unknown dim as -1, and ONNX Runtime would
// take both for facts (`Shape` of the output would fold to a wrong constant). So a new description
// is made: rank 0 gives no information, and an unknown dim gets a unique name.
#include "infer.h"

#include <atomic>
#include <string>
#include <vector>

#include "status.h"

namespace scatterx {

namespace {

// A description that its destructor releases.
class Description {
 public:
  explicit Description(const ort::Api& api) : api_(api) {}
  ~Description() {
    if (info != nullptr) api_.ReleaseTensorTypeAndShapeInfo(info);
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  OrtTensorTypeAndShapeInfo* info = nullptr;

 private:
  const ort::Api& api_;
};

}  // namespace

void InferOutputShape(const ort::Api& api, OrtShapeInferContext* context) {
  static std::atomic<unsigned> unknown_dims{0};
  // ONNX Runtime owns the descriptions of the inputs, so they are not released here.
  OrtTensorTypeAndShapeInfo* data = nullptr;
  Check(api.ShapeInferContext_GetInputTypeShape(context, std::size_t{0}, &data));
  std::size_t rank = 0;
  Check(api.GetDimensionsCount(data, &rank));
  if (rank == 0) return;
  int type = 0;
  Check(api.GetTensorElementType(data, &type));
  std::vector<std::int64_t> dims(rank);
  std::vector<const char*> names(rank);
  Check(api.GetDimensions(data, dims.data(), rank));
  Check(api.GetSymbolicDimensions(data, names.data(), rank));

  std::vector<std::string> texts(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (dims[i] >= 0) continue;
    texts[i] = names[i] != nullptr ? names[i] : "";
    if (texts[i].empty()) texts[i] = "onnx_scatterx_unknown_" + std::to_string(unknown_dims++);
  }
  for (std::size_t i = 0; i < rank; ++i) names[i] = texts[i].c_str();
  Description output(api);
  Check(api.CreateTensorTypeAndShapeInfo(&output.info));
  Check(api.SetTensorElementType(output.info, type));
  Check(api.SetDimensions(output.info, dims.data(), rank));
  Check(api.SetSymbolicDimensions(output.info, names.data(), rank));
  Check(api.ShapeInferContext_SetOutputTypeShape(context, std::size_t{0}, output.info));
}

}  // namespace scatterx
