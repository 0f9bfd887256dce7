#include "coldtrace/pe/coff_string_table.hpp"

#include <charconv>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

// The text at `offset` of the string table, which follows the symbols and starts with its size.
std::optional<std::string_view> find_string(const Image& image, u32 offset) {
  constexpr u64 symbol_size = 18;
  constexpr std::size_t longest_name = 256;
  const auto& header = image.file_header();
  if (header.symbol_table_offset == 0) return std::nullopt;
  const u64 table = header.symbol_table_offset + header.symbol_count * symbol_size;
  const auto size = core::load<u32>(image.file().clip(table, 4), 0);
  if (!size || offset > *size) return std::nullopt;
  if (!image.file().contains(table, *size)) return std::nullopt;
  const auto limit = std::min<u64>(longest_name + 1, *size - offset);
  return core::read_c_string(image.file().clip(table + offset, limit), longest_name);
}

}  // namespace

std::string_view find_section_name(const Image& image, const SectionHeader& section) {
  const auto name = section.name();
  if (!name.starts_with('/') || image.layout() == Layout::memory) return name;
  u32 offset = 0;
  const auto* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, offset);
  if (error != std::errc{} || stop != end) return name;
  return find_string(image, offset).value_or(name);
}

}  // namespace coldtrace::pe
