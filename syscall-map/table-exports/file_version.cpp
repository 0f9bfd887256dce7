#include "syscall-map/table-exports/file_version.hpp"

#include <charconv>

namespace coldtrace::syscall_map {

std::optional<pe::VersionNumber> to_version_number(std::string_view text) {
  pe::VersionNumber version{};
  const auto* at = text.data();
  const auto* const end = text.data() + text.size();
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, version[i]);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional{version} : std::nullopt;
}

}  // namespace coldtrace::syscall_map
