#include "pe/image/dll_name.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::pe {

std::string dll_file_name(std::string_view name) {
  auto lower = core::to_lower(name);
  if (!lower.empty() && lower.back() == '.') {
    lower.pop_back();
  } else if (lower.find('.') == std::string::npos) {
    lower += ".dll";
  }
  return lower;
}

bool is_api_set_name(std::string_view name) {
  const auto prefix = core::to_lower(name.substr(0, std::min<std::size_t>(name.size(), 4)));
  return prefix == "api-" || prefix == "ext-";
}

}  // namespace coldtrace::pe
