#pragma once

#include <string>

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/where/event_lines.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

// What values of fields are compared as. Texts of a subject last until the next one is made.
class FieldSubjects {
 public:
  // All that is given must outlive it; `lines` may be null.
  FieldSubjects(const Clock& clock, const NameTables& names, ValueText& texts,
                EventLineReader* lines)
      : clock_{clock}, names_{names}, texts_{texts}, lines_{lines} {}

  // A value of the event; its text and its name are made only `with_text`.
  Subject read(const Event& event, const FieldSchema& field, const Value& value, bool with_text);

  // Only the name that the value stands for.
  Subject read_name(const Event& event, const FieldSchema& field, const Value& value);

 private:
  std::string_view name_of(const Event& event, const FieldSchema& field, const Value& value);
  void read_shown(const Event& event, const Value& value, bool with_text, Subject& subject);

  const Clock& clock_;
  const NameTables& names_;
  ValueText& texts_;
  EventLineReader* lines_;
  std::string text_;
  std::string name_;
  core::TextBuffer shown_;
};

}  // namespace coldtrace::tracefile
