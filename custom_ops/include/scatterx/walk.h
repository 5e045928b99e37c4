// Goes through the runs of a plan in row-major order and says where each one goes.
#pragma once

#include <cstdint>

#include "scatterx/plan.h"

namespace scatterx {

class Walk {
 public:
  Walk(const Plan& plan, const Table& table) : plan_(plan), table_(table) { Seek(0); }

  // Makes run number `q` the next one.
  void Seek(std::int64_t q) {
    target_ = plan_.start;
    row_ = plan_.row_start;
    for (std::size_t d = plan_.rank; d-- > 0;) {
      const Dim& dim = plan_.dims[d];
      at_[d] = q % dim.extent;
      q /= dim.extent;
      target_ += at_[d] * dim.target;
      row_ += at_[d] * dim.row;
    }
  }

  // Writes the targets of the next `count` runs; there must be as many.
  void Take(std::int64_t count, std::int64_t* targets) {
    if (table_.wide) {
      TakeAs<std::int64_t>(count, targets);
    } else {
      TakeAs<std::int32_t>(count, targets);
    }
  }

  // The target of the one run `q`.
  std::int64_t At(std::int64_t q) {
    Seek(q);
    return target_ + Base(table_, plan_.columns, row_);
  }

 private:
  template <class Int>
  void TakeAs(std::int64_t count, std::int64_t* targets) {
    switch (plan_.columns.count) {
      case 0:
        return TakeColumns<Int, 0>(count, targets);
      case 1:
        return TakeColumns<Int, 1>(count, targets);
      case 2:
        return TakeColumns<Int, 2>(count, targets);
      case 3:
        return TakeColumns<Int, 3>(count, targets);
      default:
        return TakeColumns<Int, kMaxRank>(count, targets);
    }
  }

  template <class Int, std::size_t kColumns>
  void TakeColumns(std::int64_t count, std::int64_t* targets) {
    if (plan_.rank == 0) {  // a single run
      targets[0] = target_ + BaseOf<Int, kColumns>(row_);
      return;
    }
    const Dim& inner = plan_.dims[plan_.rank - 1];
    std::int64_t& at = at_[plan_.rank - 1];
    while (count > 0) {
      const std::int64_t n = count < inner.extent - at ? count : inner.extent - at;
      if (kColumns == 0 || inner.row == 0) {
        const std::int64_t first = target_ + BaseOf<Int, kColumns>(row_);
        for (std::int64_t i = 0; i < n; ++i) targets[i] = first + i * inner.target;
      } else {
        std::int64_t target = target_, row = row_;
        for (std::int64_t i = 0; i < n; ++i, target += inner.target, row += inner.row) {
          targets[i] = target + BaseOf<Int, kColumns>(row);
        }
      }
      targets += n;
      count -= n;
      at += n;
      target_ += n * inner.target;
      row_ += n * inner.row;
      if (at == inner.extent) Carry();
    }
  }

  template <class Int, std::size_t kColumns>
  std::int64_t BaseOf(std::int64_t row) const {
    const std::size_t count = kColumns < kMaxRank ? kColumns : plan_.columns.count;
    const Int* values = static_cast<const Int*>(table_.values) + row * static_cast<std::int64_t>(count);
    std::int64_t base = 0;
    for (std::size_t j = 0; j < count; ++j) {
      std::int64_t value = values[j];
      value += value < 0 ? plan_.columns.at[j].size : 0;
      base += value * plan_.columns.at[j].stride;
    }
    return base;
  }

  // The innermost dim is through: begin it again, one step on in the dim around it.
  void Carry() {
    for (std::size_t d = plan_.rank; d-- > 0;) {
      const Dim& dim = plan_.dims[d];
      if (at_[d] < dim.extent) return;
      target_ -= dim.extent * dim.target;
      row_ -= dim.extent * dim.row;
      at_[d] = 0;
      if (d == 0) return;
      ++at_[d - 1];
      target_ += plan_.dims[d - 1].target;
      row_ += plan_.dims[d - 1].row;
    }
  }

  Plan plan_;
  Table table_;
  std::int64_t at_[kMaxRank] = {};
  std::int64_t target_ = 0, row_ = 0;
};

}  // namespace scatterx
