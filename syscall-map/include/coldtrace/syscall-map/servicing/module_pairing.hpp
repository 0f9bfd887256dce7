#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/image_role.hpp"

namespace coldtrace::syscall_map {

// A module of one of two systems, from its headers and resources.
struct ServicedModule {
  std::string path;   // to open the file
  std::string place;  // relative to the folder, with '/' as separator; for a given file, its name
  pe::Identity identity;
  std::optional<ImageRole> role;
};

// How two modules were paired.
enum class PairedBy : u8 {
  none,       // the module is in only one of the systems
  given,      // both files were given
  path,       // they are at the same place, case-insensitively
  file_name,  // no other file of that name remains in either system
  own_name,   // the same, for the module's own name
  role,       // the same, for its role in a build of Windows
};

[[nodiscard]] std::string_view to_string(PairedBy why);

// The same module in two systems, by index; an index is absent if only the other system has it.
struct ModulePair {
  std::optional<std::size_t> before, after;
  PairedBy by = PairedBy::none;
};

// The modules of two systems.
struct ModulePairs {
  std::vector<ModulePair> pairs;  // by place in the new system, otherwise in the old one
  core::Findings findings;
};

// Pairs modules for the same machine, each with at most one. If several with one name remain on
// either side, they cannot be told apart: they are in one system only, and `servicing-ambiguous`
// counts the names.
[[nodiscard]] ModulePairs pair_modules(std::span<const ServicedModule> before,
                                       std::span<const ServicedModule> after);

// Places of a system that cannot be read: files, and folders with everything below.
using UnreadPlaces = std::span<const std::string>;

// Leaves out modules of only one system if the other may have them at a place that cannot be read:
// they are neither added nor removed.
void leave_out_unread(ModulePairs& pairs, std::span<const ServicedModule> before,
                      std::span<const ServicedModule> after, UnreadPlaces unread_before,
                      UnreadPlaces unread_after);

// The pair of two given files: the same module, whatever their names. `servicing-names` reports if
// their own names differ and they do not have the same role.
[[nodiscard]] ModulePairs pair_given(const ServicedModule& before, const ServicedModule& after);

}  // namespace coldtrace::syscall_map
