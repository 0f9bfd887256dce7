#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/clr_header.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/pe/load_config.hpp"
#include "coldtrace/pe/tls_directory.hpp"

namespace coldtrace::pe {

// Directories for readers that continue without them: one that cannot be read counts as absent, and
// is a finding: `export-directory`, `load-config`, `tls-directory`, `clr-header`.
[[nodiscard]] std::optional<ExportDirectory> find_export_directory(const Image& image,
                                                                   core::Findings& findings);
[[nodiscard]] std::optional<LoadConfig> find_load_config(const Image& image,
                                                         core::Findings& findings);
[[nodiscard]] std::optional<TlsDirectory> find_tls_directory(const Image& image,
                                                             core::Findings& findings);
[[nodiscard]] std::optional<ClrHeader> find_clr_header(const Image& image,
                                                       core::Findings& findings);

// As count_exports(); nothing if the directory cannot be read.
[[nodiscard]] std::optional<u64> find_export_count(const Image& image, core::Findings& findings);

}  // namespace coldtrace::pe
