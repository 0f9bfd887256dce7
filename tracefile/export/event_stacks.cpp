#include "coldtrace/trace_export/event_stacks.hpp"

#include <limits>

#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::trace_export {
namespace {

using trace_analysis::Frame;
using tracefile::FieldSchema;
using tracefile::Value;
using tracefile::ValueShape;

// The first field of that name that is a number and not negative.
class NumberOf final : public tracefile::FieldVisitor {
 public:
  explicit NumberOf(std::string_view name) : name_{name} {}

  std::optional<i64> found;

  bool has_room(const FieldSchema&) override { return !found; }
  void value(const FieldSchema& field, const Value& value) override {
    if (found || depth_ > 0 || field.name != name_) return;
    const auto shape = shape_of(value);
    std::optional<u64> number;
    if (shape == ValueShape::unsigned_integer || shape == ValueShape::signed_integer)
      number = shown_number(value);
    else if (shape == ValueShape::text)
      number = hex_number(value);
    if (number && *number <= static_cast<u64>(std::numeric_limits<i64>::max()))
      found = static_cast<i64>(*number);
  }
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

 private:
  std::string_view name_;
  unsigned depth_ = 0;
};

}  // namespace

EventStacks::EventStacks(core::Borrowed<tracefile::AnyTrace> trace,
                         core::Borrowed<tracefile::EventSelection> selection,
                         core::Borrowed<std::optional<std::string>> field,
                         trace_analysis::CodeNames& code)
    : selector_{{trace.get().schemas(), trace.get().names(), trace.get().clock(),
                 trace.get().start_time()},
                selection},
      decoder_{trace.get().schemas()},
      field_{field.get()},
      code_{code} {}

std::optional<i64> EventStacks::weight_of(const tracefile::Event& event) {
  if (!field_) return 1;
  NumberOf number{*field_};
  const auto& kind = decoder_.kind_of(event);
  if (kind.schema) decoder_.decode(event, kind, number);
  if (!number.found) ++without_field_;
  return number.found;
}

void EventStacks::on_event(const tracefile::Event& event, trace_analysis::Index thread) {
  if (!selector_.wants(event)) return;
  const auto weight = weight_of(event);
  if (!weight) return;
  pending_.push_back({event.name_time(), thread, *weight, join_.expect(event.name_time(), thread)});
  while (pending_.size() > trace_analysis::most_pending ||
         (!pending_.empty() && join_.frames_held() > trace_analysis::most_pending_frames))
    take_oldest();
}

void EventStacks::take_oldest() {
  const auto& one = pending_.front();
  path_.clear();
  path_.push_back({Frame::Kind::thread, one.thread});
  append_frames(path_, join_.frames(one.slot), code_, pid_of(*population_, one.thread), one.time);
  tree_.add(path_, {1, one.weight, 0});
  join_.release(one.slot);
  pending_.pop_front();
}

void EventStacks::finish(const trace_analysis::Observed&) {
  while (!pending_.empty()) take_oldest();
}

}  // namespace coldtrace::trace_export
