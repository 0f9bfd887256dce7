#include "tracefile/messages/message_items.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::tracefile {
namespace {

// Sources: real messages of these types with their TMF files; of ItemFloat, ItemUChar, ItemMACAddr,
// ItemIPV6Addr, ItemNTerror, ItemListShort and ItemSetByte a public description only.
constexpr ItemType types[] = {
    {"ItemChar", InType::i8, OutType::none, 0, MessageItem::number},
    {"ItemUChar", InType::u8, OutType::none, 0, MessageItem::number},
    {"ItemShort", InType::i16, OutType::none, 0, MessageItem::number},
    {"ItemUShort", InType::u16, OutType::none, 0, MessageItem::number},
    {"ItemLong", InType::i32, OutType::none, 0, MessageItem::number},
    {"ItemULong", InType::u32, OutType::none, 0, MessageItem::number},
    {"ItemLongLong", InType::i64, OutType::none, 0, MessageItem::number},
    {"ItemULongLong", InType::u64, OutType::none, 0, MessageItem::number},
    {"ItemLongLongX", InType::u64, OutType::hex64, 0, MessageItem::number},
    {"ItemLongLongXX", InType::u64, OutType::hex64, 0, MessageItem::number},
    {"ItemLongLongO", InType::u64, OutType::none, 0, MessageItem::number},
    {"ItemQuad", InType::i64, OutType::none, 0, MessageItem::number},
    {"ItemFloat", InType::f32, OutType::none, 0, MessageItem::floating},
    {"ItemDouble", InType::f64, OutType::none, 0, MessageItem::floating},
    {"ItemPtr", InType::pointer, OutType::none, 0, MessageItem::pointer},
    {"ItemString", InType::ansi, OutType::none, 0, MessageItem::plain},
    {"ItemRString", InType::ansi, OutType::none, 0, MessageItem::blanked_text},
    {"ItemWString", InType::utf16, OutType::none, 0, MessageItem::plain},
    {"ItemRWString", InType::utf16, OutType::none, 0, MessageItem::blanked_text},
    {"ItemPString", InType::counted_ansi, OutType::none, 0, MessageItem::plain},
    {"ItemPWString", InType::counted_utf16, OutType::none, 0, MessageItem::plain},
    {"ItemHexDump", InType::counted_binary, OutType::none, 0, MessageItem::plain},
    {"ItemSid", InType::sid, OutType::none, 0, MessageItem::plain},
    {"ItemGuid", InType::guid, OutType::none, 0, MessageItem::plain},
    {"ItemCLSID", InType::guid, OutType::none, 0, MessageItem::plain},
    {"ItemIID", InType::guid, OutType::none, 0, MessageItem::plain},
    {"ItemLIBID", InType::guid, OutType::none, 0, MessageItem::plain},
    {"ItemNTSTATUS", InType::u32, OutType::nt_status, 0, MessageItem::status},
    {"ItemNTerror", InType::u32, OutType::nt_status, 0, MessageItem::status},
    {"ItemHRESULT", InType::u32, OutType::hresult, 0, MessageItem::status},
    {"ItemWINERROR", InType::u32, OutType::win32_error, 0, MessageItem::error},
    {"ItemNDIS_STATUS", InType::u32, OutType::hex32, 0, MessageItem::ndis_status},
    {"ItemNDIS_OID", InType::u32, OutType::hex32, 0, MessageItem::ndis_oid},
    {"ItemTimestamp", InType::file_time, OutType::none, 0, MessageItem::plain},
    {"ItemWaitTime", InType::file_time, OutType::none, 0, MessageItem::plain},
    {"ItemTimeDelta", InType::i64, OutType::none, 0, MessageItem::duration},
    {"ItemIPAddr", InType::u32, OutType::ipv4, 0, MessageItem::plain},
    {"ItemIPV6Addr", InType::binary, OutType::ipv6, 16, MessageItem::plain},
    {"ItemMACAddr", InType::binary, OutType::none, 6, MessageItem::mac},
    {"ItemPort", InType::u16, OutType::port, 0, MessageItem::plain},
    {"ItemChar4", InType::ansi, OutType::none, 4, MessageItem::plain},
    {"ItemListByte", InType::u8, OutType::none, 0, MessageItem::list},
    {"ItemListShort", InType::u16, OutType::none, 0, MessageItem::list},
    {"ItemListLong", InType::u32, OutType::none, 0, MessageItem::list},
    {"ItemSetByte", InType::u8, OutType::none, 0, MessageItem::set},
    {"ItemSetShort", InType::u16, OutType::none, 0, MessageItem::set},
    {"ItemSetLong", InType::u32, OutType::none, 0, MessageItem::set},
    {"ItemEnum", InType::u32, OutType::none, 0, MessageItem::enumeration},
    {"ItemFlagsEnum", InType::u32, OutType::none, 0, MessageItem::flags},
};

}  // namespace

std::optional<ItemType> find_item_type(std::string_view name) {
  const auto* const found = std::find_if(
      std::begin(types), std::end(types),
      [&](const ItemType& type) { return core::equal_ignoring_case(type.name, name); });
  if (found == std::end(types)) return std::nullopt;
  return *found;
}

}  // namespace coldtrace::tracefile
