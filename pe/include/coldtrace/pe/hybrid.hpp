#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/pe/load_config.hpp"

namespace coldtrace::pe {

// An image that contains code for two machines.
enum class Hybrid : u8 {
  none,
  chpe,     // x86 with ARM64 inside, on Windows 10
  arm64ec,  // says x64, contains ARM64 code that x64 code can call
  arm64x,   // ARM64, and ARM64EC after the loader has patched it
};

[[nodiscard]] std::string_view to_string(Hybrid hybrid);

// Determined from machine, CHPE metadata and dynamic relocations. All tables are read as in the
// file, which is the native view; any result other than `none` is a finding. If the three
// contradict each other, another finding reports each of them.
[[nodiscard]] Hybrid recognize_hybrid(const Image& image, const std::optional<LoadConfig>& config,
                                      core::Findings& findings);

}  // namespace coldtrace::pe
