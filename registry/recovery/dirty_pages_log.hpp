#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"
#include "registry/recovery/hive_bytes.hpp"

namespace coldtrace::registry {

// Whether a log of the old format belongs to this state of the hive: both were last written at the
// same time, which a hive without a valid base block may have only in its first bin. One of the
// hives of yarp's tests has it in its base block, whose checksum is broken, and an older time in
// the bin.
bool is_log_of(const BaseBlock& log, const BaseBlock& hive, core::ByteView hive_bytes);

// Applies a log of the old format: the base block, and all pages of 512 bytes whose bit is set in
// the bitmap after "DIRT". All or nothing: an incomplete log is not applied.
void apply_dirty_pages(HiveBytes& hive, const LogFile& log, const BaseBlock& base, LogUse& use,
                       core::Findings& findings);

}  // namespace coldtrace::registry
