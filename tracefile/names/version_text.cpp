#include "coldtrace/tracefile/names/version_text.hpp"

#include <fmt/ranges.h>

namespace coldtrace::tracefile {
namespace {

template <class Version>
std::optional<std::string> text_unless_zeros(const Version& version) {
  if (version == Version{}) return std::nullopt;
  return fmt::format("{}", fmt::join(version, "."));
}

}  // namespace

std::optional<std::string> find_version_text(const std::array<u32, 3>& version) {
  return text_unless_zeros(version);
}

std::optional<std::string> find_version_text(const std::array<u16, 4>& version) {
  return text_unless_zeros(version);
}

}  // namespace coldtrace::tracefile
