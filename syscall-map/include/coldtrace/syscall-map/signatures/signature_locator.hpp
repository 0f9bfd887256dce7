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

// The value of a captured field at a match.
struct CapturedValue {
  std::string name;
  CaptureType type;
  i64 value;
  pe::Rva rva;  // where the field lies
};

// A signature that found a place, and the evidence for it.
struct SignatureMatch {
  const Signature* signature;
  pe::Rva start;  // of the bytes that matched
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

  // Whether one of the matching signatures was seen to be right in a real file.
  [[nodiscard]] bool verified() const;
};

// Where the signatures of a function match.
struct SignatureSearch {
  std::vector<SignatureLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the function that are for this machine and version
  core::Findings findings;
};

// Looks for `function` in the executable sections of an image, with all signatures of that name for
// the image's machine and version in one pass. Two places are a finding. Signatures with a version
// range are tried on an image without a version, and never on Wine's, whose versions are not those
// of Windows.
[[nodiscard]] SignatureSearch locate(const pe::ImageTables& tables, std::string_view function,
                                     std::span<const Signature> signatures);

// Only the finding that a search was abandoned.
void tell_limit(const SignatureSearch& search, core::Findings& findings);

}  // namespace coldtrace::syscall_map
