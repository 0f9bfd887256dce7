#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/signatures/signature.hpp"
#include "coldtrace/syscall-map/function_bytes.hpp"
#include "coldtrace/syscall-map/named_place.hpp"

namespace coldtrace::syscall_map {

// An image that contains the function, and its place, if known.
struct DerivationInput {
  const pe::Image* image;
  std::string name;  // its name in sentences
  std::optional<pe::Rva> place;
};

// The function in one image, and how often its signature matches there.
struct DerivedPlace {
  pe::Rva rva{};
  u32 agreeing = 0;         // if it was not given: bytes equal to those at a known place
  u64 searched = 0;         // bytes of executable sections
  u64 matches = 0;          // found by the matcher: only the place
  u64 shorter_matches = 0;  // of the signature without its last byte
};

// A range of bytes that the signature leaves open.
struct OpenBytes {
  u32 offset;
  u32 size;
  Wildcard why;
};

// A signature made from several builds of a function, or why there is none.
struct Derivation {
  std::optional<Signature> signature;
  std::string reason;  // a sentence: why there is none
  u32 size = 0;        // number of bytes that the signature covers
  u32 fixed = 0;       // number of bytes that are not open
  u32 shorter = 0;     // its size without the last fixed byte
  std::vector<OpenBytes> open;
  std::vector<DerivedPlace> places;  // of the inputs, as far as found
};

// With fewer equal bytes than this, code of other functions matches too often.
inline constexpr u32 enough_fixed_bytes = 16;

// The shortest signature of the function's first bytes that matches once in each image's executable
// sections. Bytes that change from build to build are left open: relocated ones, displacements that
// leave the function or are relative to rip, and what differs between the images. A place that is
// not given is the one with the most bytes in common with the first function whose place is given.
// The signature has at least `least_fixed` bytes that are not open, and never extends beyond the
// function's end.
[[nodiscard]] Derivation derive_signature(std::string_view function,
                                          std::span<const DerivationInput> inputs,
                                          u32 least_fixed = enough_fixed_bytes);

// `signature-not-derived`: why there is none.
void note_derivation(const Derivation& derivation, core::Findings& findings);

}  // namespace coldtrace::syscall_map
