#pragma once

#include <string_view>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The section's full name: "/4" refers to text at offset 4 of the COFF string table, which MinGW
// and Wine's DLLs use for names beyond 8 characters. It is kept as it is if the text is not there,
// as in a memory dump. Arbitrary bytes of the file.
[[nodiscard]] std::string_view find_section_name(const Image& image, const SectionHeader& section);

}  // namespace coldtrace::pe
