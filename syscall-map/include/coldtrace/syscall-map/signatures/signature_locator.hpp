#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// What a field of a signature holds where it matched.
struct CapturedValue {
  std::string name;
  CaptureType type;
  i64 value;
  pe::Rva rva;  // where the field lies
};

// A signature that found a place, and why it counts.
struct SignatureMatch {
  const Signature* signature;
  pe::Rva start;  // of the bytes that it matched
  u64 size;
  std::vector<CapturedValue> captures;
  std::vector<std::string> evidence;  // sentences
};

// A place that signatures found.
struct SignatureLocation {
  pe::Rva rva;
  std::optional<u64> file_offset;
  u64 address;  // at the preferred base
  std::vector<SignatureMatch> matches;

  // One of the matching signatures was seen to be true of a real file.
  [[nodiscard]] bool verified() const;
};

// Where the signatures of a function match.
struct SignatureSearch {
  std::vector<SignatureLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the function that are for this machine and version
  core::Findings findings;
};

// Looks for `function` in the executable sections of an image, with all signatures of that name for
// the image's machine and version in one pass. Found at two places is a finding.
// Signatures with a version range are tried on an image without a version, and never on Wine's,
// whose versions are not those of a Windows.
[[nodiscard]] SignatureSearch locate(const pe::ImageTables& tables, std::string_view function,
                                     std::span<const Signature> signatures);

// Of what a search found, only that it was given up.
void tell_limit(const SignatureSearch& search, core::Findings& findings);

}  // namespace coldtrace::syscall_map
