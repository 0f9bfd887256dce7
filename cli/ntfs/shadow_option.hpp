#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/ntfs/partition.hpp"
#include "coldtrace/ntfs/shadow/shadow_copies.hpp"

namespace coldtrace::cli {

// The shadow copies of volumes, by where these start.
using ShadowsOfVolumes = std::map<u64, std::unique_ptr<ntfs::ShadowCopies>>;

// --shadow N|all|live.
Option add_shadow_option(Command& command, std::vector<std::string>& shadows);

// An option for the number of one shadow copy; the text is empty where none is asked for.
void add_one_shadow_option(Command& command, const std::string& name, std::string& shadow,
                           const std::string& help);

// Replaces the `chosen` volumes of an image by what `asked` has of each: copies from the oldest on,
// the volume as it is now behind them. Returns why there is none of it, or nothing.
std::string choose_shadows(const std::vector<std::string>& asked, const core::ImageSource& image,
                           std::vector<ntfs::Partition>& chosen, ShadowsOfVolumes& shadows,
                           core::Findings& findings);

// The image with the volume as the shadow copy that `partition` names has it, or why there is none.
core::Expected<std::unique_ptr<core::ImageSource>, std::string> open_shadow(
    const ShadowsOfVolumes& of_volumes, const ntfs::Partition& partition, core::Findings& findings);

}  // namespace coldtrace::cli
