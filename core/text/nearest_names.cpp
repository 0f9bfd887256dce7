#include "coldtrace/core/nearest_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::core {
namespace {

constexpr std::size_t longest = 64;

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, longest))
    if (c != '*' && c != '?') text += to_lower(c);
  return text;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, longest + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& above_that = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

// How far a name is from what was wanted; more than any allowed distance where it is not meant.
std::size_t rank(const std::string& wanted, const std::string& name) {
  constexpr std::size_t never = 2 * longest;
  if (wanted.empty() || name.empty()) return never;
  const auto apart = distance(wanted, name);
  if (apart <= std::max<std::size_t>(1, std::max(wanted.size(), name.size()) / 3)) return apart;
  const bool within = wanted.size() >= 3 && name.find(wanted) != name.npos;
  const bool around = name.size() >= 3 && wanted.find(name) != wanted.npos;
  return within || around ? longest + apart : never;
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view wanted,
                                            std::span<const std::string_view> names,
                                            std::size_t count) {
  const auto text = folded(wanted);
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const auto name : names)
    if (const auto far = rank(text, folded(name)); far < 2 * longest && name != wanted)
      ranked.emplace_back(far, name);
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  ranked.resize(std::min(ranked.size(), count));
  std::vector<std::string_view> nearest;
  for (const auto& [far, name] : ranked) nearest.push_back(name);
  return nearest;
}

std::string did_you_mean(std::span<const std::string> meant) {
  std::string text;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    const auto* const before = i == 0 ? "; did you mean " : i + 1 < meant.size() ? ", " : " or ";
    text += fmt::format("{}'{}'", before, meant[i]);
  }
  return text.empty() ? text : text + '?';
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> names,
                         std::string_view prefix) {
  auto nearest = nearest_names(wanted, names, 1);
  // Where names have no members, what is in front of the dot.
  const auto whole = wanted.substr(0, wanted.find('.'));
  if (nearest.empty() && whole != wanted)
    nearest = std::ranges::find(names, whole) != names.end() ? std::vector{whole}
                                                             : nearest_names(whole, names, 1);
  if (nearest.empty()) return {};
  return did_you_mean(std::vector{fmt::format("{}{}", prefix, nearest.front())});
}

}  // namespace coldtrace::core
