// Between ONNX Runtime's status pointers and exceptions, which never cross the library's border.
#pragma once

#include <exception>
#include <string>

#include "scatterx/ort_abi.h"
#include "scatterx/shape.h"

namespace scatterx {

// A status that ONNX Runtime returned, as an exception.
struct OrtFailure {
  OrtStatus* status;
};

inline void Check(OrtStatus* status) {
  if (status != nullptr) throw OrtFailure{status};
}

// body(), as a status: null if it succeeded.
template <class Body>
OrtStatus* AsStatus(const ort::Api& api, const Body& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const OrtFailure& failure) {
    return failure.status;
  } catch (const InvalidArgument& error) {
    return api.CreateStatus(ort::kInvalidArgument,
                            (std::string("ScatterX: ") + error.what()).c_str());
  } catch (const std::exception& error) {
    return api.CreateStatus(ort::kFail, (std::string("ScatterX: ") + error.what()).c_str());
  }
}

}  // namespace scatterx
