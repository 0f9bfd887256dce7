#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"
#include "registry/recovery/hive_bytes.hpp"

namespace coldtrace::registry {

// Whether a log of the old format is one of this state of the hive: they were last written at the
// same time, which a hive without a valid base block may have in its first bin alone. Of the hives
// of yarp's tests one has it in the base block, whose checksum is broken, and an older one in the
// bin.
bool is_log_of(const BaseBlock& log, const BaseBlock& hive, core::ByteView hive_bytes);

// Applies a log of the old format: the base block, and all pages of 512 bytes whose bit is set in
// the bitmap behind "DIRT". All or none: of an incomplete log nothing is applied.
void apply_dirty_pages(HiveBytes& hive, const LogFile& log, const BaseBlock& base, LogUse& use,
                       core::Findings& findings);

}  // namespace coldtrace::registry
