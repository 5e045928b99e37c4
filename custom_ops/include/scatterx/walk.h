// Visits the runs of a plan in row-major order and computes the target of each one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

class Walk {
 public:
  // The plan must outlive the walk.
  Walk(const Plan& plan, const Table& table) : plan_(plan), table_(table) {
    for (std::size_t j = 0; j < plan.columns.count; ++j) {
      is_short_ &= plan.columns.at[j].size <= 0x7fffffff && plan.columns.at[j].stride <= 0x7fffffff;
    }
    Seek(0);
  }

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

  // base(row), with its operands in registers: targets are int64, too, so after a store to them the
  // compiler would read a member again. Sizes and strides that fit in 31 bits, as nearly all do,
  // need a single multiplication of vectors.
  template <class Int, std::size_t kColumns, bool kShort>
  struct Reader {
    explicit Reader(const Walk& walk)
        : values(static_cast<const Int*>(walk.table_.values)), count(walk.plan_.columns.count) {
      for (std::size_t j = 0; j < Count(); ++j) {
        sizes[j] = static_cast<Number>(walk.plan_.columns.at[j].size);
        strides[j] = static_cast<std::uint64_t>(walk.plan_.columns.at[j].stride);
      }
    }
    std::size_t Count() const { return kColumns < kMaxRank ? kColumns : count; }

    SCATTERX_INLINE std::int64_t operator()(std::int64_t row) const {
      const Int* numbers = values + row * static_cast<std::int64_t>(Count());
      std::uint64_t base = 0;
      for (std::size_t j = 0; j < Count(); ++j) {
        Number value = static_cast<Number>(numbers[j]);
        value += sizes[j] & (value >> (sizeof(Number) * 8 - 1));
        if constexpr (kShort) {
          base += std::uint64_t{static_cast<std::uint32_t>(value)} *
                  static_cast<std::uint32_t>(strides[j]);
        } else {
          base += static_cast<std::uint64_t>(value) * strides[j];
        }
      }
      return static_cast<std::int64_t>(base);
    }

    using Number = std::conditional_t<kShort, std::int32_t, std::int64_t>;
    const Int* values;
    std::size_t count;
    Number sizes[kColumns ? kColumns : 1];
    std::uint64_t strides[kColumns ? kColumns : 1];
  };

  template <class Int, std::size_t kColumns>
  void TakeColumns(std::int64_t count, std::int64_t* targets) {
    if (is_short_ && HasAvx2()) {
      TakeAvx2(Reader<Int, kColumns, true>(*this), count, targets);
    } else if (is_short_) {
      TakeWith(Reader<Int, kColumns, true>(*this), count, targets);
    } else {
      TakeWith(Reader<Int, kColumns, false>(*this), count, targets);
    }
  }

  template <class Reader>
  SCATTERX_AVX2 void TakeAvx2(const Reader base, std::int64_t count, std::int64_t* targets) {
    TakeWith(base, count, targets);
  }

  template <class Reader>
  SCATTERX_INLINE void TakeWith(const Reader base, std::int64_t count, std::int64_t* targets) {
    if (plan_.rank == 0) {  // a single run
      targets[0] = target_ + base(row_);
      return;
    }
    const Dim inner = plan_.dims[plan_.rank - 1];
    std::int64_t& at = at_[plan_.rank - 1];
    while (count > 0) {
      const std::int64_t n = count < inner.extent - at ? count : inner.extent - at;
      std::int64_t target = target_, row = row_;
      if (inner.row == 0) {
        target += base(row_);
        for (std::int64_t i = 0; i < n; ++i) targets[i] = target + i * inner.target;
      } else if (inner.row == 1) {
        for (std::int64_t i = 0; i < n; ++i) targets[i] = target + i * inner.target + base(row + i);
      } else {
        for (std::int64_t i = 0; i < n; ++i, target += inner.target, row += inner.row) {
          targets[i] = target + base(row);
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

  // The innermost dim is finished: begin it again, one step further in the dim around it.
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

  const Plan& plan_;
  const Table table_;
  bool is_short_ = true;  // all sizes and strides of the columns fit in 31 bits
  std::int64_t at_[kMaxRank];
  std::int64_t target_ = 0, row_ = 0;
};

}  // namespace scatterx
