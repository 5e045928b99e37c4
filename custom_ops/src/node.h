// One ScatterX node in a session: its attributes, and what is kept from one run to the next.
#pragma once

#include <memory>
#include <mutex>

#include "pool.h"
#include "scatterx/element.h"
#include "scatterx/moves.h"
#include "scatterx/ort_abi.h"
#include "scatterx/picks.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

class Node {
 public:
  // Reads the attributes. Throws where one is missing or means nothing for this element type.
  Node(const OrtApi* api, const OrtKernelInfo* info, ElementType type, bool wide);

  void Compute(OrtKernelContext* context);
  const ort::Api& api() const { return api_; }

 private:
  // What shapes alone decide, and where f is a constant of the model, the plan as well.
  struct Prepared {
    Nest nest;
    const void* table = nullptr;  // the constant that the plan is for
    Plan plan;
  };

  std::shared_ptr<const Prepared> Prepare(const Ints& data, const Ints& updates,
                                          const Ints& table_shape, const Table& table,
                                          const Parallel& parallel);
  Plan PlanFor(const Nest& nest, const Table& table, const Parallel& parallel) const;

  ort::Api api_;
  ElementType type_;
  bool wide_;  // f is int64, else int32
  Picks picks_;
  Reduction reduction_ = Reduction::kNone;
  bool unique_ = false;
  Moves moves_;
  bool table_is_constant_ = false;
  WorkerCount workers_;

  std::mutex mutex_;                      // a session may run on several threads
  std::shared_ptr<const Prepared> last_;  // the run before
};

}  // namespace scatterx
