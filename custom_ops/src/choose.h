// Which ways are taken in this process: what SCATTERX_COPY says, or what was measured on this
// machine.
#pragma once

namespace scatterx {

// Reads both anew, and takes what they say from now on. Throws InvalidArgument if SCATTERX_COPY
// holds a word that means nothing.
void ChooseForThisMachine();

}  // namespace scatterx
