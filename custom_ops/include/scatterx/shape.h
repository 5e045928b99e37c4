// Shapes of up to 16 dims, row-major, and the one error that the kernel throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace scatterx {

// The caller's arguments do not fit together; the message says which ones and how.
struct InvalidArgument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

inline constexpr std::size_t kMaxRank = 16;

// A short list of numbers that lives on the stack: a shape, an index or a pick.
class Ints {
 public:
  Ints() {}  // unused places are not set
  Ints(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }
  Ints(std::size_t size, std::int64_t value) {
    CheckRank(size);
    size_ = size;
    for (std::size_t i = 0; i < size; ++i) values_[i] = value;
  }
  Ints(const std::int64_t* values, std::size_t size) : size_(size) {
    CheckRank(size);
    for (std::size_t i = 0; i < size; ++i) values_[i] = values[i];
  }
  Ints(const Ints& other) { *this = other; }
  Ints& operator=(const Ints& other) {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) values_[i] = other.values_[i];
    return *this;
  }

  void push_back(std::int64_t value) {
    CheckRank(size_ + 1);
    values_[size_++] = value;
  }

  std::size_t size() const { return size_; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }

  friend bool operator==(const Ints& a, const Ints& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Ints& a, const Ints& b) { return !(a == b); }

 private:
  static void CheckRank(std::size_t size) {
    if (size > kMaxRank) {
      throw InvalidArgument("more than " + std::to_string(kMaxRank) + " dims are not supported");
    }
  }

  std::array<std::int64_t, kMaxRank> values_;
  std::size_t size_ = 0;
};

// "[2, 3]"
inline std::string ToString(const Ints& ints) {
  std::string text = "[";
  for (std::size_t i = 0; i < ints.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(ints[i]);
  }
  return text + "]";
}

// The number of elements; throws if it does not fit in 63 bits.
inline std::int64_t Count(const Ints& shape) {
  for (const std::int64_t dim : shape) {
    if (dim < 0) throw InvalidArgument("a shape has the negative dim " + std::to_string(dim));
    if (dim == 0) return 0;
  }
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) {
      throw InvalidArgument("the shape " + ToString(shape) + " has too many elements");
    }
  }
  return count;
}

// The strides of the dims, in elements. Only for shapes with at least one element.
inline Ints RowMajorStrides(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Moves `index` to the next point of `shape` in row-major order; false after the last.
inline bool Next(const Ints& shape, Ints& index) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace scatterx
