#pragma once

#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key_files.hpp"

namespace coldtrace::cli {

// --password-file, --recovery-key-file and --startup-key: secrets are never given on the command
// line.
std::vector<Option> add_bitlocker_options(Command& command, ntfs::BitLockerKeyFiles& files);

// The keys in the files; throws Failure if one cannot be read or is not of its kind.
std::vector<ntfs::BitLockerKey> given_bitlocker_keys(const ntfs::BitLockerKeyFiles& files);

}  // namespace coldtrace::cli
