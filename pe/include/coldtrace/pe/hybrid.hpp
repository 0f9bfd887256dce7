#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/pe/load_config.hpp"

namespace coldtrace::pe {

// An image that holds code of two machines.
enum class Hybrid : u8 {
  none,
  chpe,     // x86 with ARM64 inside, of Windows 10
  arm64ec,  // says x64, is ARM64 code that x64 code can call
  arm64x,   // ARM64, and ARM64EC after the loader has patched it
};

[[nodiscard]] std::string_view to_string(Hybrid hybrid);

// What machine, CHPE metadata and dynamic relocations make of it. All tables are read as the file
// has them, which is the native view; for other than `none` a finding says so. Where the three
// contradict each other, another one says what each of them has.
[[nodiscard]] Hybrid recognize_hybrid(const Image& image, const std::optional<LoadConfig>& config,
                                      core::Findings& findings);

}  // namespace coldtrace::pe
