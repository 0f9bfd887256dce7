#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/text_tokens.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::syscall_map {

// What the grammar calls, token by token in the order of the text. Tokens are views of the text, so
// that an error knows its place.
class MemberListBuilder {
 public:
  explicit MemberListBuilder(std::string_view text) : places_{text} {}

  using Error = core::TokenError;  // ends parsing; caught where it began

  void set_optional(std::string_view word);
  void set_kind(std::string_view word);
  void begin(std::string_view name);            // also its only alternative
  void set_expression(std::string_view text);   // after '='
  void add_alternative(std::string_view text);  // after '|'
  void end(std::string_view request);
  void use(std::string_view list);  // "@edr"

  MemberListFile take() { return std::move(file_); }

 private:
  void check() const;

  MemberListFile file_;
  MemberListFile::Request request_;
  std::vector<std::string_view> expressions_;  // the tokens of its alternatives
  bool kind_is_said_ = false;
  std::size_t alternatives_ = 0;  // of all requests
  core::TokenPlaces places_;
};

}  // namespace coldtrace::syscall_map
