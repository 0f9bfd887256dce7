#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/messages/trace_message.hpp"

namespace coldtrace::tracefile {

// How an argument of a WPP message is stored and shown, by its item type in a TMF text.
struct ItemType {
  std::string_view name;
  InType in;
  OutType out;
  u16 size;  // of binaries and texts of a fixed size, in bytes; else 0
  MessageItem item;
};

// Case does not count: ItemHexDump is also written ItemHEXDump. Nothing for an unknown type.
std::optional<ItemType> find_item_type(std::string_view name);

}  // namespace coldtrace::tracefile
