#include "coldtrace/pe/rva.hpp"

#include <fmt/format.h>

namespace coldtrace::pe {

std::string to_string(Rva rva) {
  return fmt::format("{:#x}", value(rva));
}

}  // namespace coldtrace::pe
