#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coldtrace::pe_details {

// {"rich_header","signature","tls","resources"} of a PE image as LIEF reads it; see docs/pe.md.
// Throws what LIEF throws.
std::string describe(const std::vector<std::uint8_t>& image);

}  // namespace coldtrace::pe_details
