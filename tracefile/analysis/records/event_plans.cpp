#include "tracefile/analysis/records/event_plans.hpp"

#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

using tracefile::Event;
using tracefile::EventKind;

const EventPlans::Plan& EventPlans::of(const Event& event) {
  const auto& kind = decoder_.kind_of(event);
  auto& plan = grown(plans_, std::size_t{kind.number} * 2 + (event.pointer_size == 8 ? 1 : 0));
  if (plan.looked_up && kind.kept) return plan;
  plan = {true, nullptr, {}, {}};
  if (pairs_ != nullptr)
    for (const auto role : pairs_->roles_of(kind))
      plan.pairs.push_back(plan_pair(event, kind, role));
  if (!kind.schema) return plan;
  plan.known = find_known_event(kind.provider_name, kind.name);
  if (plan.known != nullptr)
    plan.fields = FieldPlan{*kind.schema, plan.known->fields, event.pointer_size};
  return plan;
}

// A key is a number of fixed size; without such a field the event has none.
EventPlans::PairPlan EventPlans::plan_pair(const Event& event, const EventKind& kind,
                                           EventPairs::Role role) const {
  const auto& key = pairs_->all()[role.pair].key;
  PairPlan plan{role, !key.empty(), {}};
  if (!plan.has_key || !kind.schema) return plan;
  const NamedField named{Field::pair_key, key};
  for (const auto& field : kind.schema->fields) {
    const auto size = tracefile::fixed_size(field, event.pointer_size);
    if (field.name == key && size > 0 && size <= sizeof(u64))
      plan.key = FieldPlan{*kind.schema, {&named, 1}, event.pointer_size};
  }
  return plan;
}

}  // namespace coldtrace::trace_analysis
