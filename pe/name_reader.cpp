#include "pe/name_reader.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace coldtrace::pe {

std::optional<std::string_view> NameReader::read(Rva rva, u64 limit) {
  limit = std::min(limit, budget_);
  auto name = core::read_c_string(window_.at(rva), limit);
  if (!name) name = image_.read_text(rva, limit);
  // The search for a missing NUL costs as much as the longest name.
  budget_ -= name ? name->size() : std::min(limit, image_.addresses().tail_size(rva));
  return name;
}

}  // namespace coldtrace::pe
