#pragma once

#include <string_view>

#include "cli/output/stream_packer.hpp"
#include "coldtrace/pdb/pdb_choice.hpp"

namespace coldtrace::cli {

// "nt.pdb" of "nt.pdb.zst", in any case.
inline std::string_view name_of_packed_pdb(std::string_view name) {
  for (const auto ending : pe::packed_pdb_endings)
    if (name.size() > ending.size() && has_ending(name, ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace coldtrace::cli
