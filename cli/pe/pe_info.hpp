#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/pe/pe_details.hpp"
#include "coldtrace/pe/debug_directory.hpp"
#include "coldtrace/pe/hybrid.hpp"
#include "coldtrace/pe/load_config.hpp"
#include "coldtrace/pe/resources.hpp"
#include "coldtrace/pe/tls_directory.hpp"
#include "coldtrace/pe/version_info.hpp"

namespace coldtrace::cli {

// What "pe info" has about an image beside its headers and identity.
struct PeInfo {
  u64 exports = 0, imports = 0, delay_imports = 0, relocations = 0, functions = 0;
  std::vector<pe::DebugEntry> debug;
  bool reproducible = false;             // the time stamp is a hash of the build
  std::optional<u32> computed_checksum;  // of files; for a memory dump it means nothing
  std::optional<pe::VersionInfo> version;
  std::optional<pe::LoadConfig> load_config;
  pe::Hybrid hybrid = pe::Hybrid::none;
  std::optional<pe::TlsDirectory> tls;
  std::vector<pe::Resource> resources;
  std::optional<std::string> symbol_path;  // path of the PDB on a symbol server
  std::vector<pe::Certificate> certificates;
  std::optional<PeDetails> details;  // with --details
};

void write_info_text(Output& output, const PeInput& input, const HashedIdentity& identity,
                     const PeInfo& info);
void write_info_json(JsonWriter& json, const PeInput& input, const PeInfo& info);

}  // namespace coldtrace::cli
