#include "pe/image/name_reader.hpp"

namespace coldtrace::pe {

std::string_view NameReader::read_beyond_window(Rva rva, u64 limit) {
  const auto name = image_.read_text(rva, limit);
  // The search for a missing NUL costs as much as the longest name.
  budget_ -= name ? name->size() : std::min(limit, image_.addresses().stored_size(rva));
  return name.value_or(std::string_view{});
}

}  // namespace coldtrace::pe
