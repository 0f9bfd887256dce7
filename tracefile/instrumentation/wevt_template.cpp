#include <algorithm>

#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "tracefile/instrumentation/wevt_text.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u32 temp = 0x504d'4554;  // "TEMP"
constexpr u32 vmap = 0x5041'4d56;  // "VMAP"
constexpr u32 bmap = 0x5041'4d42;  // "BMAP"

// From `offset` to the end of the resource.
core::ByteView from(const WevtResource& resource, u32 offset) {
  return resource.bytes.subspan(std::min<std::size_t>(offset, resource.bytes.size()));
}

}  // namespace

core::Result<WevtTemplate> read_wevt_template(const WevtResource& resource, u32 offset) {
  core::Reader in{from(resource, offset), "TEMP", resource.offset + offset};
  WevtTemplate read{};
  read.offset = offset;
  in.expect<u32>(temp, "signature");
  read.size = in.read_u32("size");
  const auto counts_at = in.offset();
  read.top_level = in.read_u32("top-level items");
  const auto count = in.read_u32("items");
  const auto items_at = in.read_u32("offset of the items");
  read.kind = in.read_u32("kind");
  read.guid = core::to_guid(in.take(16, "GUID"));
  if (read.top_level > count)
    in.reject(Fault::bad_value, counts_at, "top-level items", count, read.top_level);
  if (count > most_fields) in.reject(Fault::limit, counts_at + 4, "items", most_fields, count);
  if (!in.ok()) return core::fail(in.error());

  core::Reader items{from(resource, items_at), "TEMP item", resource.offset + items_at};
  WevtTexts texts{resource};
  for (u32 i = 0; i < count; ++i) {
    WevtItem item{};
    item.flags = items.read_u32("flags");
    const auto types = items.read_u32("types");
    item.in = static_cast<u8>(types);
    item.out = static_cast<u8>(types >> 8);
    item.first_member = static_cast<u16>(types);
    item.members = static_cast<u16>(types >> 16);
    item.map = items.read_u32("map");
    item.count = items.read_u16("count");
    item.length = items.read_u16("length");
    auto name = texts.read_sized(items.read_u32("name"));
    if (!items.ok()) return core::fail(items.error());
    if (!name) return core::fail(name.error());
    item.name = std::move(*name);
    read.items.push_back(std::move(item));
  }
  return read;
}

core::Result<WevtMap> read_wevt_map(const WevtResource& resource, u32 offset) {
  core::Reader in{from(resource, offset), "WEVT map", resource.offset + offset};
  WevtMap map{};
  const auto at = in.offset();
  const auto sign = in.read_u32("signature");
  in.skip(4, "size");
  const auto name_at = in.read_u32("name");
  in.skip(4, "kind");
  const auto count_at = in.offset();
  const auto count = in.read_u32("entries");
  if (sign != vmap && sign != bmap) in.reject(Fault::bad_magic, at, "signature", vmap, sign);
  if (count > in.remaining() / 8)
    in.reject(Fault::out_of_bounds, count_at, "entries", in.remaining() / 8, count);
  if (!in.ok()) return core::fail(in.error());
  map.bits = sign == bmap;
  auto name = WevtTexts{resource}.read_sized(name_at);
  if (!name) return core::fail(name.error());
  map.name = std::move(*name);
  for (u32 i = 0; i < count; ++i) {
    const auto number = in.read_u32("value");
    map.entries.push_back({number, in.read_u32("message")});
  }
  return in.finish(std::move(map));
}

}  // namespace coldtrace::tracefile
