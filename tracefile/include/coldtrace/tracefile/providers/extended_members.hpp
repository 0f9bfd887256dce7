#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::tracefile {

// A member of `extended` in a line: what a header says besides the members that all events have.
struct ExtendedMember {
  enum class Form : u8 {
    guid,    // 16 bytes of `data`
    sid,     // `data`
    number,  // `number`
    words,   // of 64 bits: `data`
    hex,     // `data`
  };
  std::string_view name;  // empty: "item_N", where `number` is N
  unsigned repetition;    // from the second of a name on: 2, 3
  Form form;
  u64 number;
  core::ByteView data;

  // "event_key", "item_19", "event_key_2".
  [[nodiscard]] std::string full_name() const;
};

// The form of the member that lines call this, including names with the number of a repetition or
// of an item; nothing if no line can have it. Items of an unexpected size are hex, whatever their
// form.
[[nodiscard]] std::optional<ExtendedMember::Form> find_extended_form(std::string_view name);
// Without repetitions and items of no known type.
[[nodiscard]] std::vector<std::string_view> extended_member_names();

// The members of an event, in the order of its line.
void read_extended_members(const Event& event, std::vector<ExtendedMember>& members);

}  // namespace coldtrace::tracefile
