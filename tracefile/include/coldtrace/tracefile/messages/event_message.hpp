#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"
#include "coldtrace/tracefile/messages/trace_message.hpp"

namespace coldtrace::tracefile {

// The sentence that a provider has for an event, with the event's values in it: %1 to %99 are its
// fields in order, not counting those inside structures. One object per thread.
// Source: MS Learn, "Message Text Files"; FormatMessage.
class EventMessage final : private FieldVisitor {
 public:
  // `parameters` has the texts of "%%n" in values; null: they stay as they are.
  explicit EventMessage(core::Borrowed<Clock> clock, const MessageTexts* parameters = nullptr)
      : clock_{clock.get()}, parameters_{parameters}, texts_{clock} {}

  // Valid UTF-8; empty if the schema has no message. A text that the values would make much longer
  // than message and payload together is cut there. A WPP message is formatted as its format says,
  // see trace_message.hpp.
  std::string make(const EventSchema& schema, const Event& event);
  // Whether the last one was cut.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  void value(const FieldSchema& field, const Value& value) override;
  void begin_array(const FieldSchema& field) override { begin(field); }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema& field) override { begin(field); }
  void end_structure() override { --depth_; }
  void begin(const FieldSchema& field);
  std::string to_text(const FieldSchema& field, const Value& value);
  std::string fill(std::string_view message, std::size_t room);
  std::string with_parameters(std::string text, std::size_t room);
  std::string fill_trace_message(const EventSchema& schema, const Event& event, std::size_t room);
  // What a part of the text that begins with '%' stands for; `at` is moved past it. Nothing if it
  // is no such part.
  std::optional<std::string> expand(const EventSchema& schema, const Event& event,
                                    std::string_view text, std::size_t& at);
  std::optional<std::string> prefix_field(const TraceMessage& message, const Event& event,
                                          std::size_t number) const;

  const Clock& clock_;
  const MessageTexts* parameters_;
  ValueText texts_;
  std::vector<std::string> values_;  // of the fields that are not inside another
  // Of a WPP message, whose fields are in none: views of its payload.
  std::vector<std::pair<const FieldSchema*, Value>> arguments_;
  bool is_trace_message_ = false;
  unsigned depth_ = 0;
  bool cut_ = false;
};

}  // namespace coldtrace::tracefile
