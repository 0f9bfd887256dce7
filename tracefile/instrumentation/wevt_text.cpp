#include "tracefile/instrumentation/wevt_text.hpp"

#include <algorithm>

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr std::size_t longest_text = 4096;  // bytes, as of schemas that a merge embeds

}  // namespace

core::Result<std::string> WevtTexts::read_sized(u32 offset) {
  if (offset == 0) return std::string{};
  constexpr u32 head = 4;
  const auto size = core::load<u32>(resource_.bytes, offset);
  const auto units = size && *size >= head
                         ? core::slice(resource_.bytes, u64{offset} + head, *size - head)
                         : std::nullopt;
  if (!units)
    return core::fail(core::ParseError{Fault::out_of_bounds, resource_.offset + offset, "WEVT name",
                                       "size", resource_.bytes.size(), size.value_or(0)});
  return decode(core::until_nul_unit(units->first(units->size() & ~std::size_t{1})), offset);
}

core::Result<std::string> WevtTexts::read_bare(u32 offset) {
  const auto bytes = core::slice(resource_.bytes, offset, 2);
  if (!bytes)
    return core::fail(core::ParseError{Fault::out_of_bounds, resource_.offset + offset, "WEVT text",
                                       "offset", resource_.bytes.size(), offset});
  const auto rest = resource_.bytes.subspan(offset);
  const auto bounded = rest.first(std::min(rest.size(), longest_text + 2) & ~std::size_t{1});
  return decode(core::until_nul_unit(bounded), offset);
}

core::Result<std::string> WevtTexts::decode(core::ByteView units, u32 offset) {
  units = units.first(std::min(units.size(), longest_text));
  if (units.size() > room_)
    return core::fail(core::ParseError{Fault::limit, resource_.offset + offset, "WEVT name", "size",
                                       room_, units.size()});
  room_ -= units.size();
  return core::decode_utf16(units).utf8;
}

}  // namespace coldtrace::tracefile
