#pragma once

#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::tracefile {

// Whether the bytes start as gzip does.
bool is_gzip(const core::ImageSource& source);

// Unpacks all members of a gzip file into a temporary file. Data that is damaged or longer than
// `cap` bytes ends there with a finding; what came before it stays.
core::Result<std::unique_ptr<core::ImageSource>> unpack_gzip(const core::ImageSource& source,
                                                             u64 cap, core::Findings& findings);

}  // namespace coldtrace::tracefile
