#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/findings/findings.hpp"
#include "pe/image/image.hpp"
#include "syscall-map/signatures/signature_locator.hpp"
#include "syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// Where one source says that a function is, and why.
struct FunctionPlace {
  PlaceSource source = PlaceSource::none;
  pe::Rva rva{};
  std::vector<std::string> evidence;  // sentences
  bool verified = true;  // of service tables, signatures and structure: seen in a real file
  std::string symbol;    // of a PDB: the name as it is there, decorated
};

// Functions that find_by_code() may find: by a signature for the machine, or by structure.
std::vector<std::string_view> functions_by_code(const pe::Image& image,
                                                std::span<const Signature> signatures);

// What the code itself shows: where signatures match, and for the name of a context switch where
// the stack is exchanged.
std::vector<FunctionPlace> find_by_code(const pe::Image& image, std::string_view function,
                                        const SignatureSearch& signatures);

// The places of the first source that has any; `places` are in the order of the sources. That
// another source has the function elsewhere is a finding: `symbol-disagrees` where the PDB is one
// of both, else `sources-disagree`.
std::span<const FunctionPlace> choose_places(std::span<const FunctionPlace> places,
                                             std::string_view function, core::Findings& findings);

// "export directory", "PDB".
std::string_view in_words(PlaceSource source);

}  // namespace coldtrace::syscall_map
