#include "coldtrace/trace_export/regions.hpp"

#include <algorithm>

namespace coldtrace::trace_export {
namespace {

using tracefile::Event;
using tracefile::EventClass;
using tracefile::FieldSchema;

// Source: winmeta.h, WINEVENT_OPCODE_START and WINEVENT_OPCODE_STOP.
constexpr u8 opcode_start = 1;
constexpr u8 opcode_stop = 2;

constexpr std::size_t most_arguments = 64;
constexpr std::size_t longest_value = 4096;

// Gathers the fields of one event that are not structures and no arrays.
class Arguments final : public tracefile::FieldVisitor {
 public:
  explicit Arguments(tracefile::ValueText& texts) : texts_{texts} {}

  std::vector<Argument> all;

  bool has_room(const FieldSchema&) override { return all.size() < most_arguments; }
  void value(const FieldSchema& field, const tracefile::Value& value) override {
    if (depth_ > 0 || all.size() == most_arguments) return;
    auto text = texts_.plain(value);
    if (text.size() <= longest_value) all.push_back({field.name, std::move(text)});
  }
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

 private:
  tracefile::ValueText& texts_;
  unsigned depth_ = 0;
};

}  // namespace

std::vector<Argument> Regions::arguments_of(const Event& event, const tracefile::EventKind& kind) {
  if (!kind.schema) return {};
  Arguments arguments{texts_};
  decoder_.decode(event, kind, arguments);
  return std::move(arguments.all);
}

void Regions::on_event(const Event& event, trace_analysis::Index thread, bool keep) {
  if (event.event_class != EventClass::manifest || thread == trace_analysis::nobody) return;
  const auto& kind = decoder_.kind_of(event);
  if (event.opcode == opcode_start) {
    if (open_.size() == most_threads && !open_.contains(thread)) return;
    auto& open = open_[thread];
    if (open.size() == deepest) open.erase(open.begin());
    Region region{kind.provider_name, kind.name, thread, event.name_time(), {}, {}};
    if (keep) region.arguments = arguments_of(event, kind);
    open.push_back({event.provider, event.task, keep, std::move(region)});
    return;
  }
  if (event.opcode != opcode_stop) return;
  const auto known = open_.find(thread);
  if (known == open_.end()) return;
  auto& open = known->second;
  const auto start = std::find_if(open.rbegin(), open.rend(), [&](const Open& one) {
    return one.provider == event.provider && one.task == event.task;
  });
  if (start == open.rend()) return;
  const auto place = std::prev(start.base());
  auto one = std::move(*place);
  open.erase(place, open.end());
  const auto end = event.name_time();
  if (!one.keep || end < one.region.begin || losses_->anywhere(one.region.begin, end)) return;
  one.region.end = {end, event.cpu, {event.buffer_offset, event.offset}};
  each_(one.region);
}

}  // namespace coldtrace::trace_export
