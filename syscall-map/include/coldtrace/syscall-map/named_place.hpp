#pragma once

#include <string>

#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// A function named by a symbol file, used to confirm or to find a place.
struct NamedPlace {
  std::string name;
  pe::Rva rva{};
};

}  // namespace coldtrace::syscall_map
