#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/named_place.hpp"

namespace coldtrace::syscall_map {

// The sources for the place of the function in an image from which a signature is derived.
struct PlaceClaims {
  std::optional<pe::Rva> option;  // --at
  std::optional<pe::Rva> exported;
  std::optional<NamedPlace> symbol;  // of the PDB
};

// The place and its source; without a place, the other images have to show it.
struct KnownPlace {
  enum class From : u8 { option, exported, pdb, other_image };

  std::optional<pe::Rva> rva;
  From from = From::other_image;
};
[[nodiscard]] std::string_view to_string(KnownPlace::From from);

// The first source that has a place, in their order. If the symbol is elsewhere, that is
// `symbol-disagrees`.
[[nodiscard]] KnownPlace choose_known_place(const PlaceClaims& claims, core::Findings& findings);

// For a function that has a place in no image: if this one does not export it, that is `no-match`,
// with the nearest exports. Nothing if its PDB has reported that in `findings`.
void note_unknown_function(const pe::Image& image, std::string_view function,
                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
