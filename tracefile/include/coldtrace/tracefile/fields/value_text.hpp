#pragma once

#include <optional>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/events/clock_change.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"

namespace coldtrace::tracefile {

// What a value is when shown.
enum class ValueShape : u8 {
  absent,            // null types, times that are not set
  unsigned_integer,  // Value::number, ports in host order
  signed_integer,
  floating,
  boolean,
  utf16_text,  // Value::bytes
  ansi_text,   // Value::bytes in an unknown code page, mostly ASCII or UTF-8
  text,        // made by append_value_text: hex, GUIDs, times, addresses
};

// Times in the clock of the session are integers if that is lost.
[[nodiscard]] ValueShape shape_of(const Value& value, bool clock_known = true);

// The number to show of an unsigned_integer.
[[nodiscard]] u64 shown_number(const Value& value);

// The number that the hex digits of a `text` stand for; nothing if they are none.
[[nodiscard]] std::optional<u64> hex_number(const Value& value);

// The value of a floating.
[[nodiscard]] double shown_floating(const Value& value);

// Makes the text of values of the shape `text`; always ASCII. One object per thread.
class ValueText {
 public:
  explicit ValueText(core::Borrowed<Clock> clock) : clock_{clock.get()} {}

  // What follows are values of the event's payload, whose clock may be another one.
  void start(const Event& event) { other_clock_ = event.other_clock; }
  void append(core::TextBuffer& text, const Value& value);
  // For a value of any shape, without quotes or escapes: valid UTF-8, empty if it is absent.
  std::string plain(const Value& value);

 private:
  // The number, if no date can express it.
  void append_time(core::TextBuffer& text, std::optional<core::FileTime> time, u64 number);

  const Clock& clock_;
  const ClockChange* other_clock_ = nullptr;
  core::FileTimeFormatter times_;
};

// "S-1-5-18"
void append_sid(core::TextBuffer& text, core::ByteView sid);

// The names of a value in its map, or nothing; those of bits are joined with '|'.
[[nodiscard]] std::string find_mapped_names(const ValueMap& map, u64 number);
[[nodiscard]] std::string find_mapped_names(const ValueMap& map, const Value& value);

}  // namespace coldtrace::tracefile
