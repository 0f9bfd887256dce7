#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/named_place.hpp"

namespace coldtrace::syscall_map {

// What says where the function is in an image that a signature is derived from.
struct PlaceClaims {
  std::optional<pe::Rva> option;  // --at
  std::optional<pe::Rva> exported;
  std::optional<NamedPlace> symbol;  // of the PDB
};

// Where it is, and by which of them; without a place the other images have to show it.
struct KnownPlace {
  enum class From : u8 { option, exported, pdb, other_image };

  std::optional<pe::Rva> rva;
  From from = From::other_image;
};
[[nodiscard]] std::string_view to_string(KnownPlace::From from);

// The first claim that there is, in their order. That the symbol is elsewhere is
// `symbol-disagrees`.
[[nodiscard]] KnownPlace choose_known_place(const PlaceClaims& claims, core::Findings& findings);

// Of a function that has a place in no image: that this one does not export it is `no-match`, with
// the exports that come nearest. Nothing where its PDB has told that in `findings`.
void note_unknown_function(const pe::Image& image, std::string_view function,
                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
