#include "cli/output/text_size.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

bool& units() {
  static bool chosen = false;
  return chosen;
}

}  // namespace

void use_size_units() {
  units() = true;
}

std::string text_size(u64 bytes) {
  return units() ? size_text(bytes) : fmt::format("{}", bytes);
}

std::string text_size_in_words(u64 bytes) {
  return units() ? size_text(bytes) : core::counted(bytes, "byte", "bytes");
}

std::string exact_size_text(u64 bytes) {
  return bytes < 1024 ? size_text(bytes)
                      : fmt::format("{} ({} bytes)", size_text(bytes), grouped(bytes));
}

}  // namespace coldtrace::cli
