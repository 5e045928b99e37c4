// One ScatterX node in a session: its attributes, and the data kept from one run to the next.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "pool.h"
#include "scatterx/batch.h"
#include "scatterx/element.h"
#include "scatterx/make_plan.h"
#include "scatterx/ort_abi.h"
#include "scatterx/picks.h"
#include "scatterx/places.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

class Node {
 public:
  // Reads the attributes. Throws if one is missing or invalid for this element type. `lends_dims`
  // says that the API has the slot for it.
  Node(const OrtApi* api, bool lends_dims, const OrtKernelInfo* info, ElementType type, bool wide);

  void Compute(OrtKernelContext* context);
  const ort::Api& api() const { return api_; }

 private:
  // The data that a run keeps for the next one: all data that depends on shapes alone and, if f is
  // a constant of the model, the plan.
  struct CachedPlan {
    StridedIndexing indexing;
    Outline outline;
    Plan straight;
    Plan on_places;
    const Plan* plan = nullptr;   // one of the three
    const void* table = nullptr;  // the constant that the plan is for
  };

  // A run takes the cached data, and returns it at the end. Of concurrent runs, the first one
  // gets the data, and the data of the last one is kept.
  class CachedPlanLease {
   public:
    explicit CachedPlanLease(std::atomic<CachedPlan*>& kept)
        : kept_(kept), cached_(kept.exchange(nullptr, std::memory_order_acq_rel)) {}
    ~CachedPlanLease() { delete kept_.exchange(cached_.release(), std::memory_order_acq_rel); }
    CachedPlanLease(const CachedPlanLease&) = delete;
    CachedPlanLease& operator=(const CachedPlanLease&) = delete;
    std::unique_ptr<CachedPlan>& operator*() { return cached_; }

   private:
    std::atomic<CachedPlan*>& kept_;
    std::unique_ptr<CachedPlan> cached_;
  };

  Ints ShapeOf(const OrtValue* value) const;
  const StridedIndexing& IndexingFor(std::unique_ptr<CachedPlan>& cached, const Ints& data,
                                     const Ints& updates, const Ints& table_shape) const;
  const Plan& PlanFor(CachedPlan& cached, const Table& table, const Parallel& parallel,
                      std::optional<Places>& places) const;

  ort::Api api_;
  bool lends_dims_;
  ElementType type_;
  bool wide_;  // f is int64, else int32
  Picks picks_;
  Reduction reduction_ = Reduction::kNone;
  bool unique_ = false;
  Moves moves_;
  bool table_is_constant_ = false;
  WorkerCount workers_;
  struct Kept : std::atomic<CachedPlan*> {
    Kept() : std::atomic<CachedPlan*>(nullptr) {}
    ~Kept() { delete load(); }
  } kept_;
};

}  // namespace scatterx
