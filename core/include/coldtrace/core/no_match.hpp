#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::core {

// What stands for a name in a sentence. Of none it is the name.
using ShownName = std::function<std::string(std::string_view name)>;

// What a user asked for by name and an input does not have: the warning `no-match`, one of it for
// all names, with those that come nearest.
class NoMatch {
 public:
  // `what` says where it was asked for, as "--event" or "function"; `names` are those there are.
  void add(std::string_view what, std::string_view wanted,
           std::span<const std::string_view> names = {}, const ShownName& shown_name = {});

  // The same where a sentence of its own tells it.
  void add_sentence(std::string_view sentence);

  // Adds what another look at the same input did not find, and this one does not have yet.
  void merge_unknown(const NoMatch& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  // Adds the warning, where anything was not found.
  void report(Findings& findings) const;

 private:
  static constexpr std::size_t shown = 8;

  u64 count_ = 0;
  std::vector<std::string> sentences_;  // the first of them
};

}  // namespace coldtrace::core
