#pragma once

#include <string>
#include <vector>

#include "coldtrace/tracefile/field_decoder.hpp"
#include "coldtrace/tracefile/value_text.hpp"

namespace coldtrace::tracefile {

// The sentence that a provider has for an event, with the event's values in it: %1 to %99 are its
// fields in their order, those inside structures not counted. One object per thread.
// Source: MS Learn, "Message Text Files"; FormatMessage.
class EventMessage final : private FieldVisitor {
 public:
  explicit EventMessage(const Clock& clock) : texts_{clock} {}

  // Valid UTF-8; empty where the schema has no message. What the values would make much longer than
  // message and payload together is cut there.
  std::string make(const EventSchema& schema, core::ByteView payload, unsigned pointer_size);
  // Whether the last one was.
  bool cut() const { return cut_; }

 private:
  void value(const FieldSchema& field, const Value& value) override;
  void begin_array(const FieldSchema& field) override { begin(field); }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema& field) override { begin(field); }
  void end_structure() override { --depth_; }
  void begin(const FieldSchema& field);
  std::string to_text(const FieldSchema& field, const Value& value);
  std::string fill(std::string_view message, std::size_t room);

  ValueText texts_;
  std::vector<std::string> values_;  // of the fields that are in no other
  unsigned depth_ = 0;
  bool cut_ = false;
};

}  // namespace coldtrace::tracefile
