// The place that each row of f names, as one narrow number, kept while the bounds of f are checked.
// Every row is needed twice: it is checked before a byte of output is written, and its runs are
// moved after that. In between, a large f leaves the caches. So the second pass reads the places: 2
// or 4 bytes a row, in place of 8 for each of its numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

// The places of all rows. Each is a whole number of `unit` elements, of which the strides of all
// columns are multiples.
struct Places {
  std::int64_t unit = 0;
  std::int64_t most = 0;  // no place is beyond
  std::unique_ptr<char[]> memory;
  Table table;  // the memory, as a table of one column

  // The same plan for this table.
  Plan On(Plan plan) const {
    plan.columns.count = 1;
    plan.columns.at[0] = {most + 1, unit, 0};
    return plan;
  }
};

// The unit of all places, and the last one of them, without memory; nothing if a place does not fit
// in 32 bits, or f has no or many columns.
std::optional<Places> OutlinePlaces(const StridedIndexing& indexing);

// Fills an outline. Throws InvalidArgument if the target of an update is out of bounds.
void KeepPlaces(const StridedIndexing& indexing, const Table& table, const Parallel& parallel,
                Places& places);

// Throws InvalidArgument if the target of an update is out of bounds. Keeps the places if that is
// faster: if runs are short, and f does not stay in the nearest caches, but its places fit into
// some cache.
std::optional<Places> CheckAndKeep(const StridedIndexing& indexing, const Table& table,
                                   const Plan& plan, std::int64_t element_bytes,
                                   const Parallel& parallel);

}  // namespace scatterx
