#pragma once

#include <string_view>

#include "coldtrace/core/text_tokens.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

namespace coldtrace::syscall_map {

// What the grammar calls, token by token in the order of the text: checks what a grammar cannot and
// assembles the profile. Tokens are views of the text, so that an error knows its place.
class ProfileBuilder {
 public:
  explicit ProfileBuilder(std::string_view text) : places_{text} {}

  using Error = core::TokenError;  // ends parsing; caught where it began

  void add_include(std::string_view path);
  void begin_group(std::string_view name);
  void end_group(std::string_view sign);

  void leave_out(std::string_view sign);
  void add_name(std::string_view name);
  void qualify(std::string_view name);       // the last add_name() was the module
  void add_group_use(std::string_view use);  // "@files"

  ProfileFile take() { return std::move(file_); }

 private:
  ProfileRule& add(ProfileRule::Kind kind, std::string_view at);

  ProfileFile file_;
  bool in_group_ = false;
  std::string_view sign_;  // of a '-' whose rule is still to come
  std::size_t rules_ = 0;
  core::TokenPlaces places_;
};

}  // namespace coldtrace::syscall_map
