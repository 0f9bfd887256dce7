#include "tracefile/providers/clr_stack.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::tracefile {
namespace {

// Microsoft-Windows-DotNETRuntime, and its Rundown, Private and Stress.
bool is_clr(const core::Guid& provider) {
  static const std::array providers = {
      *core::parse_guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
      *core::parse_guid("a669021c-c450-4609-a035-5af59af4df18"),
      *core::parse_guid("763fd754-7086-4dfe-95eb-c01a46faf4ca"),
      *core::parse_guid("cc2bcbba-16b6-4cf3-8990-d74c2e8af500"),
  };
  return std::ranges::find(providers, provider) != providers.end();
}

}  // namespace

std::shared_ptr<const EventSchema> whole_clr_stack(const core::Guid& provider,
                                                   const EventSchema& schema) {
  using Rule = FieldSchema::Rule;
  const auto& fields = schema.fields;
  const auto count = std::ranges::find(fields, "FrameCount", &FieldSchema::name);
  if (count == fields.end() || count->in != InType::u32 || count->slot != 0) return nullptr;
  const auto& last = fields.back();
  if (last.name != "Stack" || last.in != InType::pointer || last.count.rule != Rule::fixed ||
      schema.slots == EventSchema::largest_slot || !is_clr(provider))
    return nullptr;
  auto whole = std::make_shared<EventSchema>(schema);
  const u16 slot = ++whole->slots;
  whole->fields[static_cast<std::size_t>(count - fields.begin())].slot = slot;
  auto& stack = whole->fields.back();
  stack.count = {Rule::slot, slot};
  stack.out = OutType::stack_frame;
  return whole;
}

}  // namespace coldtrace::tracefile
