#include "node.h"

#include <optional>
#include <string>
#include <vector>

#include "scatterx/scatter.h"
#include "status.h"
#include "strings.h"

namespace scatterx {

namespace {

std::string NameOf(ElementType type) {
  return "element type " + std::to_string(static_cast<int>(type)) + " of TensorProto";
}

Ints ReadInts(const ort::Api& api, const OrtKernelInfo* info, const char* name) {
  std::size_t count = 0;
  Check(api.KernelInfoGetAttributeArray_int64(info, name, static_cast<std::int64_t*>(nullptr),
                                              &count));
  Ints ints(count, 0);
  if (count > 0) Check(api.KernelInfoGetAttributeArray_int64(info, name, &ints[0], &count));
  return ints;
}

// The attribute, or `otherwise` where the node does not have it.
std::int64_t ReadInt(const ort::Api& api, const OrtKernelInfo* info, const char* name,
                     std::int64_t otherwise) {
  std::int64_t value = otherwise;
  if (OrtStatus* status = api.KernelInfoGetAttribute_int64(info, name, &value)) {
    api.ReleaseStatus(status);
    return otherwise;
  }
  return value;
}

Reduction ReadReduction(const ort::Api& api, const OrtKernelInfo* info) {
  std::size_t size = 0;
  if (OrtStatus* status = api.KernelInfoGetAttribute_string(info, "reduction",
                                                            static_cast<char*>(nullptr), &size)) {
    api.ReleaseStatus(status);
    return Reduction::kNone;
  }
  std::string text(size, '\0');  // `size` counts the terminating zero
  Check(api.KernelInfoGetAttribute_string(info, "reduction", text.data(), &size));
  text.resize(size > 0 ? size - 1 : 0);
  if (text == "none") return Reduction::kNone;
  if (text == "add") return Reduction::kAdd;
  if (text == "mul") return Reduction::kMul;
  if (text == "min") return Reduction::kMin;
  if (text == "max") return Reduction::kMax;
  throw InvalidArgument("reduction is '" + text + "', not one of none, add, mul, min, max");
}

Ints ShapeOf(const ort::Api& api, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  Check(api.GetTensorTypeAndShape(value, &info));
  std::size_t rank = 0;
  Ints shape;
  OrtStatus* status = api.GetDimensionsCount(info, &rank);
  if (status == nullptr && rank <= kMaxRank) {
    shape = Ints(rank, 0);
    status = api.GetDimensions(info, rank > 0 ? &shape[0] : nullptr, rank);
  }
  api.ReleaseTensorTypeAndShapeInfo(info);
  Check(status);
  if (rank > kMaxRank)
    throw InvalidArgument("a tensor has rank " + std::to_string(rank) +
                          "; at most 16 is supported");
  return shape;
}

char* BytesOf(const ort::Api& api, const OrtValue* value) {
  void* bytes = nullptr;
  Check(api.GetTensorMutableData(const_cast<OrtValue*>(value), &bytes));
  return static_cast<char*>(bytes);
}

bool Overlap(const char* a, std::size_t a_bytes, const char* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

Node::Node(const OrtApi* api, const OrtKernelInfo* info, ElementType type, bool wide)
    : api_(api), type_(type), wide_(wide) {
  picks_ = {ReadInts(api_, info, "p1"), ReadInts(api_, info, "p2"), ReadInts(api_, info, "p")};
  reduction_ = ReadReduction(api_, info);
  unique_ = ReadInt(api_, info, "unique", 0) != 0;
  moves_ = FindMoves(type, reduction_);
  const bool by_hand = type == ElementType::kString || IsPacked(type);
  if (moves_.apply == nullptr && !(by_hand && reduction_ == Reduction::kNone)) {
    throw InvalidArgument("no reduction but none is supported for " + NameOf(type));
  }
  int is_constant = 0;
  const OrtValue* value = nullptr;
  Check(api_.KernelInfoGetConstantInput_tensor(info, std::size_t{1}, &is_constant, &value));
  table_is_constant_ = is_constant != 0;
}

Plan Node::PlanFor(const Nest& nest, const Table& table, const Parallel& parallel) const {
  CheckBounds(nest, table, parallel);
  return MakePlan(nest, table, unique_, parallel);
}

std::shared_ptr<const Node::Prepared> Node::Prepare(const Ints& data, const Ints& updates,
                                                    const Ints& table_shape, const Table& table,
                                                    const Parallel& parallel) {
  const void* constant = table_is_constant_ ? table.values : nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_ && last_->table == constant && last_->nest.data == data &&
        last_->nest.updates == updates && last_->nest.table == table_shape) {
      return last_;
    }
  }
  auto prepared = std::make_shared<Prepared>();
  prepared->nest = MakeNest(picks_, data, updates, table_shape);
  prepared->table = constant;
  if (constant != nullptr) prepared->plan = PlanFor(prepared->nest, table, parallel);
  const std::lock_guard<std::mutex> lock(mutex_);
  last_ = prepared;
  return prepared;
}

void Node::Compute(OrtKernelContext* context) {
  const OrtValue* inputs[3] = {};
  Ints shapes[3];
  for (std::size_t i = 0; i < 3; ++i) {
    Check(api_.KernelContext_GetInput(context, i, &inputs[i]));
    if (inputs[i] == nullptr) throw InvalidArgument("input " + std::to_string(i) + " is missing");
    shapes[i] = ShapeOf(api_, inputs[i]);
  }
  const auto& [data_shape, table_shape, update_shape] = shapes;
  Table table{BytesOf(api_, inputs[1]), wide_};

  const std::int64_t data_count = Count(data_shape), update_count = Count(update_shape);
  const auto bytes_of = [&](std::int64_t count) {
    return static_cast<std::size_t>(
        IsPacked(type_) ? PackedBytes(count) : count * static_cast<std::int64_t>(moves_.bytes));
  };
  const std::size_t data_bytes = bytes_of(data_count), update_bytes = bytes_of(update_count);
  Call call{api_, context};
  Parallel parallel = PoolOf(call);
  const std::int64_t work =
      static_cast<std::int64_t>(data_bytes + update_bytes) + update_count * kBytesPerRun;
  if (work >= 2 * parallel.grain) parallel.workers = workers_.Get(parallel);

  const auto prepared = Prepare(data_shape, update_shape, table_shape, table, parallel);
  std::optional<Plan> made;
  if (prepared->table == nullptr) made = PlanFor(prepared->nest, table, parallel);
  const Plan& plan = made ? *made : prepared->plan;

  OrtValue* result = nullptr;
  Check(api_.KernelContext_GetOutput(context, std::size_t{0}, data_shape.begin(), data_shape.size(),
                                     &result));
  if (data_count == 0) return;
  const char* data = BytesOf(api_, inputs[0]);
  char* output = BytesOf(api_, result);
  if (type_ == ElementType::kString) {
    return ScatterStrings(api_, plan, table, inputs[0], inputs[2], update_count, result,
                          data == output);
  }

  // Whoever binds one buffer twice gets what the equation says: what the output would overwrite is
  // copied aside.
  const char* updates = BytesOf(api_, inputs[2]);
  std::vector<char> updates_aside, table_aside, data_aside;
  if (Overlap(output, data_bytes, updates, update_bytes)) {
    updates_aside.assign(updates, updates + update_bytes);
    updates = updates_aside.data();
  }
  const char* values = static_cast<const char*>(table.values);
  const std::size_t table_bytes = static_cast<std::size_t>(Count(table_shape)) * (wide_ ? 8 : 4);
  if (Overlap(output, data_bytes, values, table_bytes)) {
    table_aside.assign(values, values + table_bytes);
    table.values = table_aside.data();
  }
  if (output != data && Overlap(output, data_bytes, data, data_bytes)) {
    data_aside.assign(data, data + data_bytes);
    data = data_aside.data();
  }
  if (IsPacked(type_)) {
    ScatterPacked(plan, table, data, updates, output, parallel);
  } else {
    Scatter(plan, table, moves_, data, updates, output, parallel);
  }
}

}  // namespace scatterx
