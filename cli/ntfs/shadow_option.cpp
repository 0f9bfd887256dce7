#include "cli/ntfs/shadow_option.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs/shadow/shadow_failure.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::string_view every = "all";
constexpr std::string_view live = "live";

std::optional<u32> to_number(std::string_view text) {
  u32 number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number == 0) return std::nullopt;
  return number;
}

std::string check_shadow(const std::string& text) {
  if (text == every || text == live || to_number(text)) return {};
  return fmt::format("{} is neither a number of a shadow copy, which begin with 1, nor all or live",
                     text);
}

bool has(const std::vector<std::string>& shadows, std::string_view word) {
  return std::ranges::find(shadows, word) != shadows.end();
}

// The copies of one volume that are asked for, oldest first.
std::vector<ntfs::Partition> wanted_copies(const std::vector<std::string>& asked,
                                           const ntfs::Partition& partition,
                                           const ntfs::ShadowCopies& shadows) {
  std::vector<ntfs::Partition> wanted;
  for (const auto& copy : shadows.copies()) {
    const bool named = std::ranges::any_of(asked, [&](const std::string& text) {
      return text == every || to_number(text) == copy.number;
    });
    if (!named) continue;
    wanted.push_back(partition);
    wanted.back().shadow = ntfs::ShadowMoment{copy.number, copy.created};
  }
  return wanted;
}

// What is asked for and no volume has.
void note_absent(const std::vector<std::string>& asked, const std::vector<ntfs::Partition>& chosen,
                 u32 most, core::Findings& findings) {
  core::NoMatch unmatched;
  for (const auto& text : asked) {
    const auto number = to_number(text);
    if (!number || std::ranges::any_of(chosen, [&](const ntfs::Partition& partition) {
          return partition.shadow && partition.shadow->number == *number;
        }))
      continue;
    unmatched.add_sentence(
        most == 0
            ? fmt::format("--shadow: there is no shadow copy {}: the volume has none", text)
            : fmt::format("--shadow: there is no shadow copy {}: they are 1 to {}", text, most));
  }
  unmatched.report(findings);
}

}  // namespace

Option add_shadow_option(Command& command, std::vector<std::string>& shadows) {
  auto shadow = command.add_option(
      "--shadow", shadows,
      "Volumes as they were in shadow copies with these numbers, which 'ntfs info' "
      "lists, or in all; live is the volume as it is now");
  shadow.list("N|all|live").check("", check_shadow);
  return shadow;
}

void add_one_shadow_option(Command& command, const std::string& name, std::string& shadow,
                           const std::string& help) {
  command.add_option(name, shadow, help).check("N", [](const std::string& text) {
    return to_number(text)
               ? std::string{}
               : fmt::format("'{}' is not a number of a shadow copy: they begin with 1", text);
  });
}

std::string choose_shadows(const std::vector<std::string>& asked, const core::ImageSource& image,
                           std::vector<ntfs::Partition>& chosen, ShadowsOfVolumes& shadows,
                           core::Findings& findings) {
  std::vector<ntfs::Partition> found;
  u32 most = 0;
  for (const auto& partition : chosen) {
    auto copies = ntfs::ShadowCopies::read(image, {partition.offset, partition.size}, findings);
    if (copies) {
      most = std::max(most, static_cast<u32>(copies->copies().size()));
      for (auto& copy : wanted_copies(asked, partition, *copies)) found.push_back(std::move(copy));
      shadows.emplace(partition.offset, std::make_unique<ntfs::ShadowCopies>(std::move(*copies)));
    }
    if (has(asked, live)) found.push_back(partition);
  }
  if (found.empty())
    return most == 0 ? "no volume of it has shadow copies"
                     : fmt::format("there is no such shadow copy: they are 1 to {}", most);
  note_absent(asked, found, most, findings);
  chosen = std::move(found);
  return {};
}

core::Expected<std::unique_ptr<core::ImageSource>, std::string> open_shadow(
    const ShadowsOfVolumes& of_volumes, const ntfs::Partition& partition,
    core::Findings& findings) {
  auto& shadows = *of_volumes.at(partition.offset);
  auto image = shadows.open(partition.shadow->number, findings);
  if (image) return std::move(*image);
  return core::fail(
      ntfs::describe_shadow_failure(shadows.header(), shadows.copies(), partition, image.error()));
}

}  // namespace coldtrace::cli
