// The ways of copying in this process: from SCATTERX_COPY, or as measured on this machine.
#pragma once

namespace scatterx {

// Reads both again, and uses them from now on. Throws InvalidArgument if SCATTERX_COPY holds an
// unknown word.
void ChooseForThisMachine();

}  // namespace scatterx
