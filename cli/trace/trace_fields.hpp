#pragma once

#include "cli/output/json.hpp"
#include "cli/trace/frame_names.hpp"
#include "cli/trace/resolved_names.hpp"
#include "cli/trace/system_call_names.hpp"
#include "cli/trace/trace_control_call.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::cli {

// Writes the fields of an event as members of a JSON object, and beside it what their values
// stand for: names of files, registry keys, images and mapped values.
class TraceFields final : public tracefile::FieldVisitor {
 public:
  // `calls` may be null, and `frames` where no file names functions.
  TraceFields(const tracefile::Clock& clock, const tracefile::NameTables& names,
              const SystemCallNames* calls, FrameNames* frames, Int64 int64)
      : names_{names},
        calls_{calls},
        frames_{frames},
        int64_{int64},
        clock_known_{clock.known()},
        texts_{clock} {}

  // Starts over: members go to `json`. `time` is that of the event, as names are looked up.
  void start(core::TextBuffer& json, const tracefile::Event& event,
             const tracefile::EventKind& kind, i64 time);
  // Whether fields were left out: names may be written for each of many elements, and no event
  // makes more of them than its size allows.
  bool cut() const { return cut_; }
  // Names of the values so far; those of the stack come to them.
  ResolvedNames& resolved() { return resolved_; }
  // What the event logged of a call of NtTraceControl; null when it is none.
  const tracefile::LoggedControlCall* control_call() const { return control_call_.call(); }
  // The bytes of an event of ETW that is a field; empty when there is none.
  core::ByteView etw_event() const { return etw_event_; }

  bool has_room(const tracefile::FieldSchema& field) override;
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
  std::string find_call_name(const tracefile::Value& value);
  bool resolve_function(const tracefile::FieldSchema& field, const tracefile::Value& value);
  bool in_array() const { return (arrays_ & 1U) != 0; }

  const tracefile::NameTables& names_;
  const SystemCallNames* calls_;
  FrameNames* frames_;
  Int64 int64_;
  bool clock_known_;
  tracefile::ValueText texts_;
  core::TextBuffer* json_ = nullptr;
  ResolvedNames resolved_;
  core::ByteView etw_event_;
  ControlCallFields control_call_;
  std::optional<u32> pid_;
  i64 time_ = 0;
  std::string name_;  // of a value
  std::size_t name_bytes_ = 0;
  std::size_t name_room_ = 0;
  bool cut_ = false;
  u64 arrays_ = 0;  // one bit a level, the innermost lowest: whether it is an array
  bool first_ = true;
};

}  // namespace coldtrace::cli
