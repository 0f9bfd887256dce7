#include "coldtrace/tracefile/ctrace/ctrace_part.hpp"

#include <algorithm>

namespace coldtrace::tracefile {

core::Expected<TracedImage, std::string> find_common_ntdll(std::span<const CtracePart> parts) {
  if (parts.empty()) return TracedImage{};
  const auto& first = parts.front();
  const auto other = std::ranges::find_if(
      parts, [&](const CtracePart& part) { return part.header.ntdll != first.header.ntdll; });
  if (other != parts.end())
    return core::fail(other->name + " names a different one than " + first.name);
  return first.header.ntdll;
}

}  // namespace coldtrace::tracefile
