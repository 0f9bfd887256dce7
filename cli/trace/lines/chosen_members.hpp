#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/etl/kind_counts.hpp"

namespace coldtrace::cli {

// The members and fields that --fields names, in that order, taken from whole lines.
class ChosenMembers {
 public:
  // Fails with what is wrong with one of the names.
  static core::Expected<ChosenMembers, std::string> parse(const std::vector<std::string>& names);

  // Whether one of them is in lines only with --header-fields.
  bool header_fields() const;

  // The header of CSV, the type first.
  std::string csv_header() const;

  // From the JSON object of an event or a gap: its type, and each member under the requested name;
  // null if the object does not have it, an array if its structures are in one.
  void append_json(core::TextBuffer& text, std::string_view object) const;
  void append_csv(core::TextBuffer& text, std::string_view object) const;

  // Adds the fields that no schema of these kinds has.
  void report(const std::vector<tracefile::KindCount>& kinds, core::NoMatch& unmatched) const;

 private:
  struct Member {
    std::string name;                 // as requested
    std::vector<std::string> path;    // from the line
    std::vector<std::string> quoted;  // the same as JSON keys
  };

  std::vector<Member> members_;
};

}  // namespace coldtrace::cli
