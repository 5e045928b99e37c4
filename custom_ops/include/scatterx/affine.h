// Affine tables: at row (i_0, i_1, ...) every number of f is start + sum of i_d * step_d, as in the
// boxes of exporters. Then the indexing describes f completely, and two corners prove that f is in
// bounds.
#pragma once

#include <cstdint>

#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/table.h"

namespace scatterx {

// The numbers of f by row: column j is start[j] + sum of i_d * step[d][j].
struct Affine {
  std::int64_t start[kMaxRank];
  std::int64_t step[kMaxRank][kMaxRank];
};

// Is f affine and in bounds? If not, the first rows mostly show it.
bool FindAffine(const StridedIndexing& indexing, const Table& table, const Parallel& parallel,
                Affine& affine);

}  // namespace scatterx
