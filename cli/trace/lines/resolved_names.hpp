#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/lines/frame_names.hpp"
#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// The object with what the values of an event stand for, by the path of the field: "Member" or
// "Structure.Member". A field inside an array has an array of names, null where a value has none.
// Names that are not valid UTF-16 have their units in a further member.
class ResolvedNames {
 public:
  // Starts an event of so many bytes, which bound how much text its values can stand for.
  void start(std::size_t payload_size);
  void allow(std::size_t more_bytes) { room_ += more_bytes * text_per_byte; }

  void begin_structure(std::string_view name);
  void end_structure();
  void begin_array() { ++arrays_; }
  void end_array() { --arrays_; }

  // Adds the name of a field; an empty one is null inside an array and absent elsewhere.
  void add(std::string_view field, std::string_view name);
  // The same for a name that is JSON already.
  void add(std::string_view field, const FrameNames::Text& name);

  // Adds one of several names that do not belong to a field.
  void add_element(std::string_view member, const FrameNames::Text& name) {
    begin_array();
    add(member, name);
    end_array();
  }

  bool empty() const;
  // Appends the members, separated by commas.
  void append_to(core::TextBuffer& json) const;
  // Whether names were left out for lack of room.
  bool cut() const { return cut_; }

 private:
  static constexpr std::size_t text_per_byte = 64;
  static constexpr std::size_t most_entries = 256;

  struct Entry {
    std::string path;
    core::TextBuffer values;
    bool array = false;  // inside one, or one of several fields with that path
    bool named = false;  // one of its values has a name
    std::size_t count = 0;
    std::vector<std::pair<std::size_t, std::string>> units;  // of inexact names, by number
  };

  Entry* entry_of(std::string_view field);
  bool has_entry(std::string_view path) const;
  void append_units_to(core::TextBuffer& json, const Entry& entry) const;
  // `write` appends the name, of `size` bytes, to the values, and returns its inexact_units().
  template <class Write>
  void add_name(std::string_view field, std::size_t size, Write&& write);

  std::vector<Entry> entries_;  // the first used_ of them
  std::size_t used_ = 0;
  std::string path_;  // of the enclosing structures, each followed by a dot
  std::vector<std::size_t> lengths_;
  unsigned arrays_ = 0;
  std::size_t room_ = 0;
  bool cut_ = false;
};

}  // namespace coldtrace::cli
