// Keeps the library in the process.
#pragma once

namespace scatterx {

// Keeps the library loaded until the process ends. ONNX Runtime closes it along with the last
// session that uses it, and never releases domains: each session would create new ones.
void StayLoaded();

}  // namespace scatterx
