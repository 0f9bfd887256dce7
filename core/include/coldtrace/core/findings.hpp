#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "coldtrace/core/error.hpp"

template <>
struct fmt::formatter<coldtrace::core::ParseError> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  format_context::iterator format(const coldtrace::core::ParseError& error,
                                  format_context& context) const;
};

namespace coldtrace::core {

// Whether a finding changes the exit status.
enum class Severity : u8 {
  info,     // what healthy files have
  warning,  // damage, loss, something asked for and not found, two sources that disagree
};

[[nodiscard]] std::string_view to_string(Severity severity);

// Something to know about the input that did not stop the work. All occurrences of one code are one
// finding, with their number and the place and sentence of the first one, or of the first that is a
// warning if any is.
struct Finding {
  Name code;
  Severity severity;
  u64 count;
  std::optional<u64> first_offset;  // bytes from the start of the file or image
  std::string text;
};

// The findings of one input, in order of first occurrence. Their number is bounded by that of the
// codes, however damaged the input is; a sentence is formatted only for the first occurrence.
class Findings {
 public:
  template <class... Args>
  void info(Name code, std::optional<u64> offset, fmt::format_string<Args...> text,
            Args&&... args) {
    add(code, Severity::info, offset, text, std::forward<Args>(args)...);
  }

  template <class... Args>
  void warning(Name code, std::optional<u64> offset, fmt::format_string<Args...> text,
               Args&&... args) {
    add(code, Severity::warning, offset, text, std::forward<Args>(args)...);
  }

  // A warning about a structure that could not be used, at its place.
  void warning(Name code, const ParseError& error) { warning(code, error.offset, "{}", error); }

  // Adds what another reader of the same input found.
  void merge(const Findings& other);
  void merge(Finding finding);

  // As merge, for a second look at the same structures: known findings are not counted again.
  void merge_unknown(const Findings& other);

  // Not of unnamed findings: a loop over those would outlive them.
  [[nodiscard]] const std::vector<Finding>& all() const& { return findings_; }
  void all() const&& = delete;
  [[nodiscard]] bool empty() const { return findings_.empty(); }
  [[nodiscard]] bool has_warnings() const;
  // How often the code was found.
  [[nodiscard]] u64 count(std::string_view code) const;

 private:
  template <class... Args>
  void add(Name code, Severity severity, std::optional<u64> offset,
           fmt::format_string<Args...> text, Args&&... args) {
    if (repeat(code, severity, 1)) return;
    tell(code, severity, offset, text, fmt::make_format_args(args...));
  }

  // Counts a known code; false when this occurrence has to be told: the first one, or the first
  // that is a warning.
  bool repeat(Name code, Severity severity, u64 times);
  void tell(Name code, Severity severity, std::optional<u64> offset, fmt::string_view text,
            fmt::format_args args);
  void tell(Finding finding);

  std::vector<Finding> findings_;
};

}  // namespace coldtrace::core
