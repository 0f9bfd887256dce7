#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::core {

// Gives what a sentence shows for a name. If empty, the name itself is shown.
using ShownName = std::function<std::string(std::string_view name)>;

// What a user asked for by name and an input does not have: one warning `no-match` for all names,
// with the nearest that exist.
class NoMatch {
 public:
  // `what` says where the name was given, as "--event" or "function"; `names` are those that exist.
  void add(std::string_view what, std::string_view wanted,
           std::span<const std::string_view> names = {}, const ShownName& shown_name = {});

  // The same with a sentence of its own.
  void add_sentence(std::string_view sentence);

  // Adds what another look at the same input did not find either, unless it is known already.
  void merge_unknown(const NoMatch& other);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  // Adds the warning if anything was not found.
  void report(Findings& findings) const;

 private:
  static constexpr std::size_t shown = 8;

  u64 count_ = 0;
  std::vector<std::string> sentences_;  // the first ones
};

}  // namespace coldtrace::core
