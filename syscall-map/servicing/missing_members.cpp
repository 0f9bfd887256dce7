#include "coldtrace/syscall-map/servicing/missing_members.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace coldtrace::syscall_map {
namespace {

std::string list(std::span<const std::string> texts, std::string_view separator,
                 fmt::format_string<std::size_t> rest) {
  constexpr std::size_t most_listed = 8;
  const auto shown = std::min(texts.size(), most_listed);
  auto text = fmt::format("{}", fmt::join(texts.first(shown), separator));
  if (shown < texts.size()) text += fmt::format(rest, texts.size() - shown);
  return text;
}

}  // namespace

std::vector<std::string> list_missing_members(const HookTable& table) {
  std::vector<std::string> names;
  for (const auto& member : table.members)
    if (!member.optional && !member.value) names.push_back(member.name);
  return names;
}

void MissingMembers::add(std::string_view system, std::string_view kernel,
                         std::span<const std::string> names) {
  if (!names.empty())
    kernels_.push_back(fmt::format("for the {} kernel, {}, no given file shows {}", system, kernel,
                                   list(names, ", ", " and {} more")));
}

void MissingMembers::report(core::Findings& findings) const {
  if (!kernels_.empty())
    findings.warning("member-missing", std::nullopt, "{}", list(kernels_, "; ", "; and {} more"));
}

}  // namespace coldtrace::syscall_map
