#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/findings.hpp"
#include "pe/image.hpp"
#include "syscall-map/signature.hpp"

namespace coldtrace::syscall_map {

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

// Where the public symbol of a PDB that belongs to the image says that the function is.
struct SymbolPlace {
  std::string name;  // as in the PDB, decorated
  pe::Rva rva;
};

// A place that signatures found, or that a symbol names.
struct SignatureLocation {
  pe::Rva rva;
  std::optional<u64> file_offset;
  u64 address;  // at the preferred base
  std::vector<SignatureMatch> matches;
  std::string symbol = {};  // its name; empty: no PDB was given, or it names another place

  // A symbol names it, or one of the matching signatures was seen to be true of a real file.
  bool verified() const;
  // A symbol names it, and a signature found it too.
  bool confirmed() const { return !symbol.empty() && !matches.empty(); }
};

struct SignatureSearch {
  std::vector<SignatureLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the function that are for this machine and version
  core::Findings findings;
};

// Looks for `function` in the executable sections of `image`, with all signatures of that name for
// the image's machine and version in one pass. Not found, and found at two places, are findings.
// Signatures with a version range are tried on an image without a version, and never on Wine's,
// whose versions are not those of a Windows. Where a symbol names the place it is that one: that
// signatures find others is a finding.
SignatureSearch locate(const pe::Image& image, std::string_view function,
                       std::span<const Signature> signatures,
                       const std::optional<SymbolPlace>& symbol = std::nullopt);

}  // namespace coldtrace::syscall_map
