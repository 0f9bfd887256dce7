#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/shadow/shadow_choice.hpp"

namespace coldtrace::cli {

// --shadow N|all|live.
Option add_shadow_option(Command& command, std::vector<std::string>& shadows);

// An option for the number of one shadow copy; the text is empty if it is not given.
void add_one_shadow_option(Command& command, const std::string& name, std::string& shadow,
                           const std::string& help);

// Replaces the `chosen` volumes of an image by the views of each that `asked` names. Returns why
// there are none, or an empty text.
std::string choose_shadows(const std::vector<std::string>& asked, const core::ImageSource& image,
                           const ntfs::FindPlace& place_of, std::vector<ntfs::Partition>& chosen,
                           ntfs::ShadowsOfVolumes& shadows, core::Findings& findings);

// The image with the volume as in the shadow copy that `partition` names, or why there is none.
core::Expected<std::unique_ptr<core::ImageSource>, std::string> open_shadow(
    const ntfs::ShadowsOfVolumes& of_volumes, const ntfs::Partition& partition,
    core::Findings& findings);

}  // namespace coldtrace::cli
