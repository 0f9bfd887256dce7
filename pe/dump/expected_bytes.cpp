#include "coldtrace/pe/expected_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace coldtrace::pe {
namespace {

// No relocation adjusts more bytes.
constexpr u32 widest = 8;

template <class T>
void add(std::byte* at, u64 distance) {
  T number;
  std::memcpy(&number, at, sizeof number);
  number = static_cast<T>(number + distance);
  std::memcpy(at, &number, sizeof number);
}

}  // namespace

ExpectedBytes::ExpectedBytes(core::Borrowed<ImageTables> file, u64 base)
    : image_{file.get().image()},
      relocations_{file.get().relocations().entries},
      distance_{base - image_.optional_header().image_base} {}

bool ExpectedBytes::is_applied(RelocationType type) {
  return type == RelocationType::highlow || type == RelocationType::dir64 ||
         type == RelocationType::absolute;
}

core::ByteView ExpectedBytes::load(Rva rva, u32 size) {
  // An address may begin before what is asked for, and end behind it.
  const u64 before = std::min(value(rva), widest);
  const u64 start = value(rva) - before;
  const u64 total = before + size + widest;
  bytes_.assign(total, std::byte{0});
  for (u64 at = 0; at < total;) {
    const auto here = Rva{static_cast<u32>(std::min<u64>(start + at, ~u32{0}))};
    const auto stored = image_.bytes(here, total - at);
    if (stored.empty()) {
      ++at;
      // Nothing is stored up to the next section, which begins at an aligned address.
      while (at < total && (start + at) % 16 != 0) ++at;
      continue;
    }
    std::copy(stored.begin(), stored.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    at += stored.size();
  }
  if (distance_ != 0) relocate(start);
  return core::ByteView{bytes_}.subspan(before, size);
}

u64 ExpectedBytes::load_pointer(Rva rva) {
  const u32 width = image_.optional_header().pointer_size();
  const auto bytes = load(rva, width);
  return width == 8 ? core::load<u64>(bytes, 0).value_or(0) : core::load<u32>(bytes, 0).value_or(0);
}

void ExpectedBytes::relocate(u64 start) {
  const u64 end = start + bytes_.size();
  auto entry = std::lower_bound(
      relocations_.begin(), relocations_.end(), start,
      [](const BaseRelocation& one, u64 address) { return value(one.address) < address; });
  for (; entry != relocations_.end() && value(entry->address) < end; ++entry) {
    const u64 at = value(entry->address) - start;
    if (entry->type == RelocationType::dir64 && at + 8 <= bytes_.size())
      add<u64>(bytes_.data() + at, distance_);
    if (entry->type == RelocationType::highlow && at + 4 <= bytes_.size())
      add<u32>(bytes_.data() + at, distance_);
  }
}

}  // namespace coldtrace::pe
