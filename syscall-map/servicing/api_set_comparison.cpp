#include "coldtrace/syscall-map/servicing/api_set_comparison.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace coldtrace::syscall_map {
namespace {

// From version 6 on names have their prefix, and the number behind their last hyphen is left out.
constexpr u32 first_whole_names = 6;

using Hosts = std::vector<pe::ApiSetHost>;

std::map<std::string_view, const Hosts*> sets_of(const pe::ApiSetSchema* schema) {
  std::map<std::string_view, const Hosts*> sets;
  if (schema)
    for (const auto& set : schema->sets) sets.emplace(set.name, &set.hosts);
  return sets;
}

bool same_hosts(const Hosts& a, const Hosts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const pe::ApiSetHost& one, const pe::ApiSetHost& other) {
                      return one.importer == other.importer && one.dll == other.dll;
                    });
}

}  // namespace

ApiSetComparison compare_api_sets(const pe::ApiSetSchema* before, const pe::ApiSetSchema* after) {
  ApiSetComparison comparison;
  if (before) comparison.version_before = before->version;
  if (after) comparison.version_after = after->version;
  const auto old_sets = sets_of(before);
  const auto new_sets = sets_of(after);
  comparison.before = old_sets.size();
  comparison.after = new_sets.size();
  comparison.comparable =
      !before || !after ||
      (before->version < first_whole_names) == (after->version < first_whole_names);
  if (!comparison.comparable) return comparison;
  for (const auto& [name, hosts] : old_sets) {
    const auto other = new_sets.find(name);
    const bool gone = other == new_sets.end();
    if (!gone && same_hosts(*hosts, *other->second)) continue;
    ++(gone ? comparison.removed : comparison.changed);
    comparison.changes.push_back(
        {std::string{name}, *hosts, gone ? std::nullopt : std::optional{*other->second}});
  }
  for (const auto& [name, hosts] : new_sets) {
    if (old_sets.contains(name)) continue;
    ++comparison.added;
    comparison.changes.push_back({std::string{name}, std::nullopt, *hosts});
  }
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const ApiSetChange& a, const ApiSetChange& b) { return a.name < b.name; });
  return comparison;
}

}  // namespace coldtrace::syscall_map
