#pragma once

#include <array>
#include <string_view>

#include "cli/output/stream_packer.hpp"

namespace coldtrace::cli {

// What is put behind the name of a PDB that is packed.
inline constexpr std::array<std::string_view, 4> packed_pdb_endings{".zst", ".gz", ".xz", ".bz2"};

// "nt.pdb" of "nt.pdb.zst", in whatever case.
inline std::string_view name_of_packed_pdb(std::string_view name) {
  for (const auto ending : packed_pdb_endings)
    if (name.size() > ending.size() && has_ending(name, ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace coldtrace::cli
