#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/images/pe_input.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/pe/certificates.hpp"
#include "coldtrace/pe/clr_header.hpp"
#include "coldtrace/pe/overlay.hpp"
#include "coldtrace/pe/rich_header.hpp"

namespace coldtrace::cli {

// What "pe info --details" has about an image: everything that needs the whole file or another
// program, or that few ask for.
struct PeDetails {
  std::optional<pe::RichHeader> rich_header;
  std::string rich_hash;
  std::optional<std::string> import_hash;
  std::optional<pe::Overlay> overlay;
  std::vector<u64> entropy;  // of each section, thousandths of a bit per byte
  std::optional<pe::ClrHeader> clr_header;
  std::vector<std::optional<std::string>> file_digests;  // for each signature in the answer
  std::optional<std::string> answer;                     // of the helper
};

PeDetails read_pe_details(PeInput& input, const std::vector<pe::Certificate>& certificates);

// Members of the object "details".
void write_pe_details(JsonWriter& json, const PeInput& input,
                      const std::vector<pe::Certificate>& certificates, const PeDetails& details);
void write_pe_details_text(Output& output, const PeInput& input, const PeDetails& details);

// For a file that has certificates: "sha256 digest agrees, signed by CN=..., chain not checked".
std::string signature_verdict(const PeDetails& details);

}  // namespace coldtrace::cli
