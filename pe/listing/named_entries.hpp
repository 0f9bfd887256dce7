#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::pe {

// Keeps the entries whose `name` is one of the names or matches one of the globs; all if neither is
// given. Names and globs without an entry are the finding `no-match`, which calls them `what`.
template <class Entry>
void keep_named(std::vector<Entry>& entries, std::string_view what,
                std::span<const std::string> names, core::Findings& findings) {
  if (names.empty()) return;
  core::NoMatch missing;
  std::vector<bool> chosen(entries.size());
  for (const auto& name : names) {
    const bool glob = is_glob(name);
    bool found = false;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (glob ? glob_matches(name, entries[i].name, GlobCase::sensitive) : entries[i].name == name)
        chosen[i] = found = true;
    if (found) continue;
    std::vector<std::string_view> known;
    for (const auto& entry : entries) known.push_back(entry.name);
    missing.add(what, name, known);
  }
  missing.report(findings);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!chosen[i]) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end());
}

}  // namespace coldtrace::pe
