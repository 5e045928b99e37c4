// Scattering tensors of strings, which only ONNX Runtime can read and write.
#pragma once

#include "scatterx/ort_abi.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

// output = data, then every update is written to its place; if several collide, the last one wins.
// `in_place` says that output is data.
void ScatterStrings(const ort::Api& api, const Plan& plan, const Table& table, const OrtValue* data,
                    const OrtValue* updates, std::int64_t update_count, OrtValue* output,
                    bool in_place);

}  // namespace scatterx
