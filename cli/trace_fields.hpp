#pragma once

#include "cli/json.hpp"
#include "cli/system_call_names.hpp"
#include "cli/trace_control_call.hpp"
#include "core/text_buffer.hpp"
#include "tracefile/event_decoder.hpp"
#include "tracefile/name_tables.hpp"
#include "tracefile/value_text.hpp"

namespace coldtrace::cli {

// Writes the fields of an event as members of a JSON object, and beside it what their values
// stand for: names of files, registry keys, images and mapped values.
class TraceFields final : public tracefile::FieldVisitor {
 public:
  // `calls` may be null.
  TraceFields(const tracefile::Clock& clock, const tracefile::NameTables& names,
              const SystemCallNames* calls, Int64 int64)
      : names_{names}, calls_{calls}, int64_{int64}, texts_{clock} {}

  // Starts over: members go to `json`. `time` is that of the event, as names are looked up.
  void start(core::TextBuffer& json, const tracefile::Event& event,
             const tracefile::EventKind& kind, i64 time);
  // The members of the object of resolved names; empty when there are none.
  std::string_view resolved() const { return resolved_.view(); }
  // What the event logged of a call of NtTraceControl; null when it is none.
  const tracefile::LoggedControlCall* control_call() const { return control_call_.call(); }
  // The bytes of an event of ETW that is a field; empty when there is none.
  core::ByteView etw_event() const { return etw_event_; }

  void value(const tracefile::FieldSchema& field, const tracefile::Value& value) override;
  void begin_array(const tracefile::FieldSchema& field) override;
  void end_array() override;
  void begin_structure(const tracefile::FieldSchema& field) override;
  void end_structure() override;

 private:
  void key(std::string_view name);
  void key(const tracefile::FieldSchema& field);
  void text(const tracefile::FieldSchema& field, const tracefile::Value& value, bool utf16);
  void resolve(const tracefile::FieldSchema& field, const tracefile::Value& value);
  void add_resolved(std::string_view name, std::string_view text);
  bool in_array() const { return (arrays_ & 1U) != 0; }

  const tracefile::NameTables& names_;
  const SystemCallNames* calls_;
  Int64 int64_;
  tracefile::ValueText texts_;
  core::TextBuffer* json_ = nullptr;
  core::TextBuffer resolved_;
  core::ByteView etw_event_;
  ControlCallFields control_call_;
  std::optional<u32> pid_;
  i64 time_ = 0;
  u64 arrays_ = 0;  // one bit a level, the innermost lowest: whether it is an array
  bool first_ = true;
};

}  // namespace coldtrace::cli
