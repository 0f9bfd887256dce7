#include "tracefile/analysis/event_plans.hpp"

#include "tracefile/analysis/grown.hpp"

namespace coldtrace::trace_analysis {

const EventPlans::Plan& EventPlans::of(const tracefile::Event& event) {
  const auto& kind = decoder_.kind_of(event);
  auto& plan = grown(plans_, std::size_t{kind.number} * 2 + (event.pointer_size == 8 ? 1 : 0));
  if (plan.looked_up && kind.kept) return plan;
  plan = {true, nullptr, {}};
  if (!kind.schema) return plan;
  plan.known = find_known_event(kind.provider_name, kind.name);
  if (plan.known != nullptr)
    plan.fields = FieldPlan{*kind.schema, plan.known->fields, event.pointer_size};
  return plan;
}

}  // namespace coldtrace::trace_analysis
