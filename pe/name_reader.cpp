#include "pe/name_reader.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace coldtrace::pe {

core::ByteView NameReader::window_at(Rva rva) {
  constexpr u64 window_size = 0x1000;
  if (rva < start_ || value(rva) - value(start_) >= window_.size()) {
    start_ = rva;
    window_ = image_.addresses().tail(rva, window_size);
  }
  return window_.subspan(value(rva) - value(start_));
}

core::ByteView NameReader::bytes(Rva rva, u64 size) {
  const auto near = window_at(rva);
  return near.size() < size ? image_.addresses().tail(rva, size) : near.first(size);
}

std::optional<std::string_view> NameReader::read(Rva rva, u64 limit) {
  limit = std::min(limit, budget_);
  auto name = core::read_c_string(window_at(rva), limit);
  if (!name) name = image_.read_text(rva, limit);
  // The search for a missing NUL costs as much as the longest name.
  budget_ -= name ? name->size() : std::min(limit, image_.addresses().tail_size(rva));
  return name;
}

}  // namespace coldtrace::pe
