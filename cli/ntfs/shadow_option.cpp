#include "cli/ntfs/shadow_option.hpp"

#include <fmt/format.h>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs/shadow/shadow_failure.hpp"

namespace coldtrace::cli {
namespace {

std::string check_shadow(const std::string& text) {
  if (ntfs::ShadowChoice{}.add(text)) return {};
  return fmt::format("{} is neither the number of a shadow copy (1 or higher) nor 'all' nor 'live'",
                     text);
}

void note_absent(const ntfs::ChosenViews& chosen, core::Findings& findings) {
  core::NoMatch unmatched;
  for (const auto number : chosen.absent)
    unmatched.add_sentence(
        chosen.most == 0
            ? fmt::format("--shadow: there is no shadow copy {}: the volume has none", number)
            : fmt::format("--shadow: there is no shadow copy {}: their numbers are 1 to {}", number,
                          chosen.most));
  unmatched.report(findings);
}

}  // namespace

Option add_shadow_option(Command& command, std::vector<std::string>& shadows) {
  auto shadow =
      command.add_option("--shadow", shadows,
                         "Read volumes as of these shadow copies, by their number in 'ntfs info', "
                         "or as of all of them; live is the volume as it is now");
  shadow.list("N|all|live").check("", check_shadow);
  return shadow;
}

void add_one_shadow_option(Command& command, const std::string& name, std::string& shadow,
                           const std::string& help) {
  command.add_option(name, shadow, help).check("N", [](const std::string& text) {
    return ntfs::to_shadow_number(text)
               ? std::string{}
               : fmt::format("'{}' is not the number of a shadow copy (1 or higher)", text);
  });
}

std::string choose_shadows(const std::vector<std::string>& asked, const core::ImageSource& image,
                           const ntfs::FindPlace& place_of, std::vector<ntfs::Partition>& chosen,
                           ntfs::ShadowsOfVolumes& shadows, core::Findings& findings) {
  ntfs::ShadowChoice choice;
  for (const auto& text : asked)
    if (!choice.add(text)) return check_shadow(text);
  auto found = ntfs::choose_views(choice, image, chosen, place_of, findings);
  if (found.views.empty())
    return found.most == 0
               ? "none of its volumes has shadow copies"
               : fmt::format("there is no such shadow copy: their numbers are 1 to {}", found.most);
  note_absent(found, findings);
  chosen = std::move(found.views);
  shadows = std::move(found.shadows);
  return {};
}

core::Expected<std::unique_ptr<core::ImageSource>, std::string> open_shadow(
    const ntfs::ShadowsOfVolumes& of_volumes, const ntfs::Partition& partition,
    core::Findings& findings) {
  auto& shadows = *of_volumes.at(partition.offset);
  auto image = shadows.open(partition.shadow->number, findings);
  if (image) return std::move(*image);
  return core::fail(
      ntfs::describe_shadow_failure(shadows.header(), shadows.copies(), partition, image.error()));
}

}  // namespace coldtrace::cli
