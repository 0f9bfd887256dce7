#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/lines/frame_names.hpp"
#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// The object of what values of an event stand for, by the path of the field: "Member" or
// "Structure.Member". A field inside an array has an array of names, null where there is none.
class ResolvedNames {
 public:
  // For an event of so many bytes, which bound how much text they can stand for.
  void start(std::size_t payload_size);
  void allow(std::size_t more_bytes) { room_ += more_bytes * text_per_byte; }

  void begin_structure(std::string_view name);
  void end_structure();
  void begin_array() { ++arrays_; }
  void end_array() { --arrays_; }

  // The name of a field; an empty one is null inside an array and absent elsewhere.
  void add(std::string_view field, std::string_view name);
  // The same of a name that is JSON already.
  void add(std::string_view field, const FrameNames::Text& name);

  // One of several names that are not a field's.
  void add_element(std::string_view member, const FrameNames::Text& name) {
    begin_array();
    add(member, name);
    end_array();
  }

  bool empty() const;
  // Members with a comma between.
  void append_to(core::TextBuffer& json) const;
  // Whether names were left out for want of room.
  bool cut() const { return cut_; }

 private:
  static constexpr std::size_t text_per_byte = 64;
  static constexpr std::size_t most_entries = 256;

  struct Entry {
    std::string path;
    core::TextBuffer values;
    bool array = false;  // inside one, or one of several fields of that path
    bool named = false;  // one of its values is
  };

  Entry* entry_of(std::string_view field);
  // `write` appends the name, which is `size` long, to the values.
  template <class Write>
  void add_name(std::string_view field, std::size_t size, Write&& write);

  std::vector<Entry> entries_;  // the first used_ of them
  std::size_t used_ = 0;
  std::string path_;  // of the structures around, each with a dot behind
  std::vector<std::size_t> lengths_;
  unsigned arrays_ = 0;
  std::size_t room_ = 0;
  bool cut_ = false;
};

}  // namespace coldtrace::cli
