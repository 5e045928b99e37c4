// output = data, then every update is moved or reduced to its place.
#pragma once

#include "scatterx/batch.h"
#include "scatterx/parallel.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

// output = data, then the updates are written as the plan says. `output` is `data` itself, or does
// not overlap it. It does not overlap `updates` and the table. The plan is for this table, and the
// bounds of the table were checked.
void Scatter(const Plan& plan, const Table& table, const Moves& moves, const void* data,
             const void* updates, void* output, const Parallel& parallel);

// The same for elements of 4 bits, two a byte, reduction none.
void ScatterPacked(const Plan& plan, const Table& table, const void* data, const void* updates,
                   void* output, const Parallel& parallel);

}  // namespace scatterx
