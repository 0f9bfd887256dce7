#pragma once

#include "coldtrace/pe/base_relocations.hpp"

namespace coldtrace::syscall_map {

// How many bytes at a place the loader relocates.
constexpr u32 relocated_size(pe::RelocationType type) {
  switch (type) {
    case pe::RelocationType::dir64:
      return 8;
    case pe::RelocationType::highlow:
      return 4;
    default:
      return 2;
  }
}

}  // namespace coldtrace::syscall_map
