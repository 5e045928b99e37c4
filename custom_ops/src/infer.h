// The inference of the output's shape, which ONNX Runtime calls when a session is created.
#pragma once

#include "scatterx/ort_abi.h"

namespace scatterx {

// The output has the shape of the first input. Throws OrtFailure.
void InferOutputShape(const ort::Api& api, OrtShapeInferContext* context);

}  // namespace scatterx
