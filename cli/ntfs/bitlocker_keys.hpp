#pragma once

#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key_files.hpp"

namespace coldtrace::cli {

// --password-file, --recovery-key-file and --startup-key: secrets never stand on the command line.
std::vector<Option> add_bitlocker_options(Command& command, ntfs::BitLockerKeyFiles& files);

// What the files hold; throws Failure where one cannot be read or is none of its kind.
std::vector<ntfs::BitLockerKey> given_bitlocker_keys(const ntfs::BitLockerKeyFiles& files);

}  // namespace coldtrace::cli
