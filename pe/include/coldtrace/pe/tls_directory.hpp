#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// IMAGE_TLS_DIRECTORY32 or ...64. Addresses are absolute, at the preferred base.
// Source: Microsoft, "PE Format", .tls section.
struct TlsDirectory {
  u64 raw_data_start;
  u64 raw_data_end;
  u64 index_address;
  u64 callbacks_address;
  u32 zero_fill_size;
  u32 characteristics;
  std::vector<u64> callbacks;  // run before the entry point; 0 ends them
};

// Callbacks without an end in their section are a finding; at most 4,096 are read.
core::Result<std::optional<TlsDirectory>> read_tls_directory(const Image& image,
                                                             core::Findings& findings);

}  // namespace coldtrace::pe
