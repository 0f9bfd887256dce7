#pragma once

#include <string_view>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The section's full name: "/4" stands for text at offset 4 of the COFF string table, which MinGW
// and Wine's DLLs use for names beyond 8 characters; it is kept as it is when the text is not
// there, as in a memory dump. Bytes of the file, any of them.
[[nodiscard]] std::string_view find_section_name(const Image& image, const SectionHeader& section);

}  // namespace coldtrace::pe
