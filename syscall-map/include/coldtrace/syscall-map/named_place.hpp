#pragma once

#include <string>

#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// A function that a symbol file names, to confirm a place or to find it.
struct NamedPlace {
  std::string name;
  pe::Rva rva{};
};

}  // namespace coldtrace::syscall_map
