#pragma once

#include <string>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// Sizes in text have units from now on; called before a run.
void use_size_units();
// "20344" in a column or after a name, or with units "19.9 KiB".
std::string text_size(u64 bytes);
// "20344 bytes" for a sentence, or with units "19.9 KiB".
std::string text_size_in_words(u64 bytes);
// "2.0 MiB (2,097,664 bytes)", "17 bytes"
std::string exact_size_text(u64 bytes);

}  // namespace coldtrace::cli
