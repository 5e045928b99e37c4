// What ONNX Runtime is told about the output's shape when a session is made.
#pragma once

#include "scatterx/ort_abi.h"

namespace scatterx {

// The output has the shape of the first input. Throws OrtFailure.
void InferOutputShape(const ort::Api& api, OrtShapeInferContext* context);

}  // namespace scatterx
