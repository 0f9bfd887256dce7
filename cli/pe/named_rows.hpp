#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::cli {

// Keeps the rows whose `name` is one of the names or matches one of the globs, all where there are
// none. What nothing has is the finding `no-match`, which calls it `what`.
template <class Row>
void keep_named(std::vector<Row>& rows, std::string_view what, std::span<const std::string> names,
                core::Findings& findings) {
  if (names.empty()) return;
  core::NoMatch missing;
  std::vector<bool> chosen(rows.size());
  for (const auto& name : names) {
    const bool glob = is_glob(name);
    bool found = false;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (glob ? glob_matches(name, rows[i].name, GlobCase::sensitive) : rows[i].name == name)
        chosen[i] = found = true;
    if (found) continue;
    std::vector<std::string_view> known;
    for (const auto& row : rows) known.push_back(row.name);
    missing.add(what, name, known);
  }
  missing.report(findings);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!chosen[i]) continue;
    if (kept != i) rows[kept] = std::move(rows[i]);
    ++kept;
  }
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end());
}

}  // namespace coldtrace::cli
