// Visits the runs of a plan in row-major order and computes the target of each one. If the outer
// dims do not step through f, the targets of the inner dims repeat at each step of the outer ones,
// shifted by one number: they are computed once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

// Targets below this are 32 bits wide: twice as many fit into a vector. Tests set a smaller number,
// so that they test the wider targets without gigabytes.
#if !defined(SCATTERX_NEAR)
#define SCATTERX_NEAR (std::int64_t{1} << 32)
#endif
inline constexpr std::int64_t kNear = SCATTERX_NEAR;

class Walk {
 public:
  // The plan must outlive the walk.
  Walk(const Plan& plan, const Table& table) : plan_(plan), table_(table) {
    for (std::size_t j = 0; j < plan.columns.count; ++j)
      is_short_ &= plan.columns.at[j].size <= 0x7fffffff;
    Seek(0);
  }

  // Writes the targets of the next `count` runs; there must be as many. A walk is for one type of
  // targets.
  void Take(std::int64_t count, std::int64_t* targets) { TakeInts(count, targets); }

  // The same modulo 2^32.
  void Take(std::int64_t count, std::uint32_t* targets) {
    if (period_ == kNotYet) FindPattern();
    if (period_ > 0) return TakePattern(count, targets);
    TakeInts(count, targets);
  }

  // The target of the one run `q`.
  std::int64_t At(std::int64_t q) {
    Seek(q);
    return target_ + Base(table_, plan_.columns, row_);
  }

 private:
  static constexpr std::int64_t kNotYet = -1, kMostOfPattern = 1024;

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

  // The pattern is `steps_` steps of the outer dims' innermost one, with all inner dims, if it has
  // few enough runs and repeats often enough.
  void FindPattern() {
    constexpr std::int64_t kLeastUses = 8;
    period_ = 0;
    std::size_t outer = 0;
    while (outer < plan_.rank && plan_.dims[outer].row == 0) ++outer;
    std::int64_t period = 1;
    for (std::size_t d = plan_.rank; d-- > outer;) period *= plan_.dims[d].extent;
    std::int64_t runs = period;
    for (std::size_t d = 0; d < outer; ++d) runs *= plan_.dims[d].extent;
    const std::int64_t most = std::min(kMostOfPattern, runs / kLeastUses);
    if (outer == 0 || period > most) return;
    for (; outer > 1 && period * plan_.dims[outer - 1].extent <= most; --outer)
      period *= plan_.dims[outer - 1].extent;
    const std::int64_t steps = std::min(plan_.dims[outer - 1].extent, most / period);
    const std::int64_t start = target_;
    TakeInts(steps * period, pattern_);
    for (std::int64_t i = 0; i < steps * period; ++i)
      pattern_[i] -= static_cast<std::uint32_t>(start);
    Seek(0);
    period_ = period;
    steps_ = steps;
    outer_ = outer;
  }

  void TakePattern(std::int64_t count, std::uint32_t* targets) {
    const Dim around = plan_.dims[outer_ - 1];
    std::int64_t& at = at_[outer_ - 1];
    while (count > 0) {
      const std::int64_t steps = std::min(steps_, around.extent - at);
      const std::int64_t n = std::min(count, steps * period_ - done_);
      const std::uint32_t* pattern = pattern_ + done_;
      const auto shift = static_cast<std::uint32_t>(target_);
      for (std::int64_t i = 0; i < n; ++i) targets[i] = pattern[i] + shift;
      targets += n;
      count -= n;
      done_ += n;
      if (done_ < steps * period_) return;
      done_ = 0;
      at += steps;
      target_ += steps * around.target;
      if (at == around.extent) Carry(outer_);
    }
  }

  template <class Target>
  void TakeInts(std::int64_t count, Target* targets) {
    if (!table_.kept) {
      table_.wide ? TakeAs<std::int64_t>(count, targets) : TakeAs<std::int32_t>(count, targets);
    } else if (table_.wide) {
      TakeColumns<std::uint32_t, 1>(count, targets);
    } else {
      TakeColumns<std::uint16_t, 1>(count, targets);
    }
  }

  template <class Int, class Target>
  void TakeAs(std::int64_t count, Target* targets) {
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

  // base(row), with its operands in registers: after a store to targets of the same type, the
  // compiler would read a member again. `Number` holds every number of f, and the sum is taken
  // modulo `Sum`.
  template <class Int, std::size_t kColumns, class Number, class Sum>
  struct Reader {
    explicit Reader(const Walk& walk)
        : values(static_cast<const Int*>(walk.table_.values)), count(walk.plan_.columns.count) {
      for (std::size_t j = 0; j < Count(); ++j) {
        sizes[j] = static_cast<Number>(walk.plan_.columns.at[j].size);
        strides[j] = static_cast<Sum>(walk.plan_.columns.at[j].stride);
      }
    }
    std::size_t Count() const { return kColumns < kMaxRank ? kColumns : count; }

    SCATTERX_INLINE Sum operator()(std::int64_t row) const {
      const Int* numbers = values + row * static_cast<std::int64_t>(Count());
      Sum base = 0;
      for (std::size_t j = 0; j < Count(); ++j) {
        Number value = static_cast<Number>(numbers[j]);
        if (std::is_signed_v<Int>) value += sizes[j] & (value >> (sizeof(Number) * 8 - 1));
        base += static_cast<Sum>(value) * strides[j];
      }
      return base;
    }

    const Int* values;
    std::size_t count;
    Number sizes[kColumns ? kColumns : 1];
    Sum strides[kColumns ? kColumns : 1];
  };

  template <class Int, std::size_t kColumns>
  void TakeColumns(std::int64_t count, std::int64_t* targets) {
    TakeWith(Reader<Int, kColumns, std::int64_t, std::uint64_t>(*this), count, targets);
  }

  // If all sizes fit into 31 bits, as nearly all do, 32 bits of each number are enough.
  template <class Int, std::size_t kColumns>
  void TakeColumns(std::int64_t count, std::uint32_t* targets) {
    using Short = Reader<Int, kColumns, std::int32_t, std::uint32_t>;
    if (is_short_ && HasAvx2()) {
      TakeAvx2(Short(*this), count, targets);
    } else if (is_short_) {
      TakeWith(Short(*this), count, targets);
    } else {
      TakeWith(Reader<Int, kColumns, std::int64_t, std::uint32_t>(*this), count, targets);
    }
  }

  template <class Reader>
  SCATTERX_AVX2 void TakeAvx2(const Reader base, std::int64_t count, std::uint32_t* targets) {
    TakeWith(base, count, targets);
  }

  template <class Reader, class Target>
  SCATTERX_INLINE void TakeWith(const Reader base, std::int64_t count, Target* __restrict targets) {
    using Sum = std::make_unsigned_t<Target>;
    if (plan_.rank == 0) {  // a single run
      targets[0] = static_cast<Target>(static_cast<Sum>(target_) + base(row_));
      return;
    }
    const Dim inner = plan_.dims[plan_.rank - 1];
    const auto step = static_cast<Sum>(inner.target);
    std::int64_t& at = at_[plan_.rank - 1];
    while (count > 0) {
      const std::int64_t n = count < inner.extent - at ? count : inner.extent - at;
      auto target = static_cast<Sum>(target_);
      std::int64_t row = row_;
      if (inner.row == 0) {
        target += base(row_);
        for (std::int64_t i = 0; i < n; ++i, target += step)
          targets[i] = static_cast<Target>(target);
      } else if (inner.row == 1) {
        for (std::int64_t i = 0; i < n; ++i, target += step)
          targets[i] = static_cast<Target>(target + base(row + i));
      } else {
        for (std::int64_t i = 0; i < n; ++i, target += step, row += inner.row)
          targets[i] = static_cast<Target>(target + base(row));
      }
      targets += n;
      count -= n;
      at += n;
      target_ += n * inner.target;
      row_ += n * inner.row;
      if (at == inner.extent) Carry(plan_.rank);
    }
  }

  // The innermost of the `depth` outer dims is finished: begin it again, one step further in the
  // dim around it.
  void Carry(std::size_t depth) {
    for (std::size_t d = depth; d-- > 0;) {
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
  bool is_short_ = true;  // all sizes of the columns fit in 31 bits
  std::int64_t at_[kMaxRank];
  std::int64_t target_ = 0, row_ = 0;

  // The pattern: `steps_` steps of dim `outer_ - 1`, each of `period_` runs, relative to the first;
  // `done_` of these runs are finished.
  std::int64_t period_ = kNotYet, steps_ = 0, done_ = 0;
  std::size_t outer_ = 0;
  std::uint32_t pattern_[kMostOfPattern];
};

}  // namespace scatterx
