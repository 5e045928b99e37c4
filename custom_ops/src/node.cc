#include "node.h"

#include <string>
#include <vector>

#include "scatterx/packed.h"
#include "scatterx/scatter.h"
#include "status.h"
#include "strings.h"

namespace scatterx {

namespace {

std::string NameOf(ElementType type) {
  return "element type " + std::to_string(static_cast<int>(type)) + " of TensorProto";
}

// Whether a read succeeded. The status of one that failed is released.
bool Succeeds(const ort::Api& api, OrtStatus* status) {
  if (status != nullptr) api.ReleaseStatus(status);
  return status == nullptr;
}

// The length of a list attribute, or nullopt if the node lacks the attribute. ONNX Runtime reports
// an attribute of another type as an empty list, so this also shows that the attribute exists.
std::optional<std::size_t> CountInts(const ort::Api& api, const OrtKernelInfo* info,
                                     const char* name) {
  std::size_t count = 0;
  if (!Succeeds(api, api.KernelInfoGetAttributeArray_int64(
                         info, name, static_cast<std::int64_t*>(nullptr), &count)))
    return std::nullopt;
  return count;
}

[[noreturn]] void RefuseType(const char* name, const char* wanted) {
  throw InvalidArgument(std::string("the attribute ") + name + " is not " + wanted);
}

// Returns whether the attribute is a number, a string or a list of floats. An empty list of
// integers is none of these. Tensors, graphs and lists of strings look like one here.
bool IsOfAnotherType(const ort::Api& api, const OrtKernelInfo* info, const char* name) {
  std::int64_t integer = 0;
  float number = 0;
  std::size_t length = 0, floats = 0;
  return Succeeds(api, api.KernelInfoGetAttribute_int64(info, name, &integer)) ||
         Succeeds(api, api.KernelInfoGetAttribute_float(info, name, &number)) ||
         Succeeds(api, api.KernelInfoGetAttribute_string(info, name, static_cast<char*>(nullptr),
                                                         &length)) ||
         (Succeeds(api, api.KernelInfoGetAttributeArray_float(
                            info, name, static_cast<float*>(nullptr), &floats)) &&
          floats > 0);
}

Ints ReadInts(const ort::Api& api, const OrtKernelInfo* info, const char* name) {
  std::optional<std::size_t> count = CountInts(api, info, name);
  if (!count) throw InvalidArgument(std::string("the attribute ") + name + " is missing");
  Ints ints(*count, 0);
  if (*count > 0) {
    Check(api.KernelInfoGetAttributeArray_int64(info, name, &ints[0], &*count));
  } else if (IsOfAnotherType(api, info, name)) {
    RefuseType(name, "a list of integers");
  }
  return ints;
}

// The attribute, or `otherwise` if the node lacks it.
std::int64_t ReadInt(const ort::Api& api, const OrtKernelInfo* info, const char* name,
                     std::int64_t otherwise) {
  std::int64_t value = otherwise;
  if (Succeeds(api, api.KernelInfoGetAttribute_int64(info, name, &value))) return value;
  if (CountInts(api, info, name)) RefuseType(name, "an integer");
  return otherwise;
}

Reduction ReadReduction(const ort::Api& api, const OrtKernelInfo* info) {
  constexpr char kReduction[] = "reduction";
  std::size_t size = 0;
  if (!Succeeds(api, api.KernelInfoGetAttribute_string(info, kReduction,
                                                       static_cast<char*>(nullptr), &size))) {
    if (CountInts(api, info, kReduction)) RefuseType(kReduction, "a string");
    return Reduction::kNone;
  }
  std::string text(size, '\0');  // `size` counts the terminating zero
  Check(api.KernelInfoGetAttribute_string(info, kReduction, text.data(), &size));
  text.resize(size > 0 ? size - 1 : 0);
  if (text == "none") return Reduction::kNone;
  if (text == "add") return Reduction::kAdd;
  if (text == "mul") return Reduction::kMul;
  if (text == "min") return Reduction::kMin;
  if (text == "max") return Reduction::kMax;
  throw InvalidArgument("reduction is '" + text + "', not one of none, add, mul, min, max");
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

Node::Node(const OrtApi* api, bool lends_dims, const OrtKernelInfo* info, ElementType type,
           bool wide)
    : api_(api), lends_dims_(lends_dims), type_(type), wide_(wide) {
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

Ints Node::ShapeOf(const OrtValue* value) const {
  const auto check = [](std::size_t rank) {
    if (rank <= kMaxRank) return;
    throw InvalidArgument("a tensor has rank " + std::to_string(rank) +
                          "; at most 16 is supported");
  };
  std::size_t rank = 0;
  if (lends_dims_) {
    int type = 0;
    const std::int64_t* dims = nullptr;
    Check(api_.GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
    check(rank);
    return Ints(dims, rank);
  }
  OrtTensorTypeAndShapeInfo* info = nullptr;
  Check(api_.GetTensorTypeAndShape(value, &info));
  Ints shape;
  OrtStatus* status = api_.GetDimensionsCount(info, &rank);
  if (status == nullptr && rank <= kMaxRank) {
    shape = Ints(rank, 0);
    status = api_.GetDimensions(info, rank > 0 ? &shape[0] : nullptr, rank);
  }
  api_.ReleaseTensorTypeAndShapeInfo(info);
  Check(status);
  check(rank);
  return shape;
}

const StridedIndexing& Node::IndexingFor(std::unique_ptr<CachedPlan>& cached, const Ints& data,
                                         const Ints& updates, const Ints& table_shape) const {
  if (!cached || cached->indexing.data != data || cached->indexing.updates != updates ||
      cached->indexing.table != table_shape) {
    cached.reset();  // if the shapes do not fit, no data is kept
    auto made = std::make_unique<CachedPlan>();
    made->indexing = MakeStridedIndexing(picks_, data, updates, table_shape);
    made->outline = MakeOutline(made->indexing, unique_);
    cached = std::move(made);
  }
  return cached->indexing;
}

// Puts the places of the table into `places`, if the plan is for them.
const Plan& Node::PlanFor(CachedPlan& cached, const Table& table, const Parallel& parallel,
                          std::optional<Places>& places) const {
  if (table_is_constant_ && cached.plan != nullptr && cached.table == table.values)
    return *cached.plan;
  cached.plan = nullptr;
  const Plan* plan = &cached.outline.plan;
  if (cached.outline.may_fold &&
      FoldAffineIndices(cached.indexing, table, parallel, cached.straight)) {
    plan = &cached.straight;
  } else if (table_is_constant_ || moves_.apply == nullptr) {  // read once a run, or by hand
    CheckBounds(cached.indexing, table, parallel);
  } else {
    const auto bytes = static_cast<std::int64_t>(moves_.bytes);
    places = CheckAndKeep(cached.indexing, table, *plan, bytes, parallel);
    if (places) plan = &(cached.on_places = places->On(*plan));
  }
  cached.plan = plan;
  cached.table = table.values;
  return *plan;
}

void Node::Compute(OrtKernelContext* context) {
  const OrtValue* inputs[3];
  for (std::size_t i = 0; i < 3; ++i) {
    Check(api_.KernelContext_GetInput(context, i, &inputs[i]));
    if (inputs[i] == nullptr) throw InvalidArgument("input " + std::to_string(i) + " is missing");
  }
  const Ints data_shape = ShapeOf(inputs[0]), table_shape = ShapeOf(inputs[1]);
  CachedPlanLease lease(kept_);
  const StridedIndexing& indexing =
      IndexingFor(*lease, data_shape, ShapeOf(inputs[2]), table_shape);
  Table table{BytesOf(api_, inputs[1]), wide_};

  const auto bytes_of = [&](std::int64_t count) {
    return static_cast<std::size_t>(
        IsPacked(type_) ? PackedBytes(count) : count * static_cast<std::int64_t>(moves_.bytes));
  };
  const std::size_t data_bytes = bytes_of(indexing.data_count),
                    update_bytes = bytes_of(indexing.update_count);
  Call call{api_, context};
  Parallel parallel = PoolOf(call);
  const std::int64_t work =
      static_cast<std::int64_t>(data_bytes + update_bytes) + indexing.update_count * kBytesPerRun;
  if (work >= 2 * parallel.grain) parallel.workers = workers_.Get(parallel);
  std::optional<Places> places;
  const Plan& plan = PlanFor(**lease, table, parallel, places);
  if (places) table = places->table;

  OrtValue* result = nullptr;
  Check(api_.KernelContext_GetOutput(context, std::size_t{0}, data_shape.begin(), data_shape.size(),
                                     &result));
  if (indexing.data_count == 0) return;
  const char* data = BytesOf(api_, inputs[0]);
  char* output = BytesOf(api_, result);
  if (type_ == ElementType::kString) {
    return ScatterStrings(api_, plan, table, inputs[0], inputs[2], indexing.update_count, result,
                          data == output);
  }

  // If one buffer is bound twice, the result still follows the equation: inputs that the output
  // would overwrite are copied first.
  const char* updates = BytesOf(api_, inputs[2]);
  std::vector<char> updates_aside, table_aside, data_aside;
  if (Overlap(output, data_bytes, updates, update_bytes)) {
    updates_aside.assign(updates, updates + update_bytes);
    updates = updates_aside.data();
  }
  const char* values = static_cast<const char*>(table.values);
  const std::size_t table_bytes = static_cast<std::size_t>(Count(table_shape) * table.Bytes());
  if (!places && Overlap(output, data_bytes, values, table_bytes)) {
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
