// Keeps the library in the process.
#pragma once

namespace scatterx {

// From now on the library stays loaded until the process ends. ONNX Runtime closes it along with
// the last session that uses it, and never gives back domains: each session would make new ones.
void StayLoaded();

}  // namespace scatterx
