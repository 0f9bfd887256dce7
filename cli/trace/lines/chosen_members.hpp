#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/etl/kind_counts.hpp"

namespace coldtrace::cli {

// The members and fields that --fields asks for, in its order, taken from whole lines.
class ChosenMembers {
 public:
  // Or what is wrong with one of the names.
  static core::Expected<ChosenMembers, std::string> parse(const std::vector<std::string>& names);

  // Whether one of them is in the line with --header-fields only.
  bool header_fields() const;

  // What the columns of CSV are, the type first.
  std::string csv_header() const;

  // Of the JSON object of an event or a gap: its type, and each member by the name that it was
  // asked for; null where the object has none, an array where structures are in one.
  void append_json(core::TextBuffer& text, std::string_view object) const;
  void append_csv(core::TextBuffer& text, std::string_view object) const;

  // The fields that are in no schema of these kinds.
  void report(const std::vector<tracefile::KindCount>& kinds, core::NoMatch& unmatched) const;

 private:
  struct Member {
    std::string name;                 // as it was asked for
    std::vector<std::string> path;    // from the line
    std::vector<std::string> quoted;  // the same as keys of JSON
  };

  std::vector<Member> members_;
};

}  // namespace coldtrace::cli
