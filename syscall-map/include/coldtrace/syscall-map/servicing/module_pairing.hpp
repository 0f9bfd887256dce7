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

// A module of one of two systems, as its headers and resources tell.
struct ServicedModule {
  std::string path;   // that the file is opened by
  std::string place;  // from the folder on, with '/' between; of a file that was given, its name
  pe::Identity identity;
  std::optional<ImageRole> role;
};

// Why two modules are taken for the same one.
enum class PairedBy : u8 {
  none,       // a module is in one of both systems alone
  given,      // both files were named
  path,       // they lie at one place; case does not count
  file_name,  // nothing else of that name is left in either system
  own_name,   // the same, of the name that the module has for itself
  role,       // the same, of what it is in a build of Windows
};

[[nodiscard]] std::string_view to_string(PairedBy why);

// The same module of two systems, by index; one index is absent where only one has it.
struct ModulePair {
  std::optional<std::size_t> before, after;
  PairedBy by = PairedBy::none;
};

// The modules of two systems.
struct ModulePairs {
  std::vector<ModulePair> pairs;  // by place in the new system, else in the old one
  core::Findings findings;
};

// Pairs modules of one machine, each with one at most. Where several of a name are left on either
// side, which is which is not known: they are in one system alone, and `servicing-ambiguous` counts
// the names.
[[nodiscard]] ModulePairs pair_modules(std::span<const ServicedModule> before,
                                       std::span<const ServicedModule> after);

// Places of a system that cannot be read: files, and folders with all below.
using UnreadPlaces = std::span<const std::string>;

// Leaves out the modules of one system alone which the other may have at a place that cannot be
// read: they are neither added nor removed.
void leave_out_unread(ModulePairs& pairs, std::span<const ServicedModule> before,
                      std::span<const ServicedModule> after, UnreadPlaces unread_before,
                      UnreadPlaces unread_after);

// The pair of two files that were named: the same module, whatever they are called. Where both call
// themselves differently and are not known for the same role, `servicing-names` tells.
[[nodiscard]] ModulePairs pair_given(const ServicedModule& before, const ServicedModule& after);

}  // namespace coldtrace::syscall_map
