#include "coldtrace/tracefile/providers/extended_data.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/events/header_type.hpp"
#include "tracefile/events/event_header_flags.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t item_header = 8;
constexpr std::size_t match_id = 8;
constexpr std::size_t perfinfo_header = 16;
constexpr std::size_t pebs_index = 8;  // directly behind it

void append_addresses(std::vector<u64>& addresses, core::ByteView data, std::size_t width) {
  for (std::size_t at = 0; at + width <= data.size(); at += width)
    addresses.push_back(width == 8 ? *core::load<u64>(data, at) : *core::load<u32>(data, at));
}

bool is_perfinfo(const Event& event) {
  const auto type = static_cast<HeaderType>(event.header_type);
  return type == HeaderType::perfinfo32 || type == HeaderType::perfinfo64;
}

// Source: TRACE_HEADER_PEBS_INDEX_FLAG in System Informer's ntwmi.h.
bool has_pebs_index(const Event& event) {
  constexpr u16 flag = 0x8000;  // of Version
  return is_perfinfo(event) && (core::load<u16>(event.header, 0).value_or(0) & flag) != 0;
}

}  // namespace

std::optional<ExtendedItem> ExtendedItems::next() {
  const auto header = core::Fields<item_header>::at(left_, 0);
  if (!header) return std::nullopt;
  const std::size_t size = header->get<u16, 0>();
  if (size < item_header || size > left_.size()) return std::nullopt;
  const auto room = size - item_header;
  const ExtendedItem item{
      static_cast<ExtendedType>(header->get<u16, 2>()),
      left_.subspan(item_header, std::min<std::size_t>(header->get<u16, 6>(), room))};
  left_ = left_.subspan(size);
  return item;
}

std::optional<core::ByteView> find_extended(const Event& event, ExtendedType type) {
  ExtendedItems items{event};
  while (const auto item = items.next())
    if (item->type == type) return item->data;
  return std::nullopt;
}

void read_stack(const Event& event, EventStack& stack) {
  stack.frames.clear();
  stack.keys.clear();
  ExtendedItems items{event};
  while (const auto item = items.next()) {
    const auto after_match = item->data.subspan(std::min(match_id, item->data.size()));
    switch (item->type) {
      case ExtendedType::stack32:
        append_addresses(stack.frames, after_match, 4);
        break;
      case ExtendedType::stack64:
        append_addresses(stack.frames, after_match, 8);
        break;
      case ExtendedType::stack_key32:
        append_addresses(stack.keys, after_match, 4);
        break;
      case ExtendedType::stack_key64:
        append_addresses(stack.keys, after_match, 8);
        break;
      default:
        break;
    }
  }
}

std::string_view provider_traits_name(const Event& event) {
  const auto traits = find_extended(event, ExtendedType::provider_traits);
  if (!traits || traits->size() < 3) return {};
  const auto name = core::read_c_string(traits->subspan(2), traits->size());
  return name.value_or(std::string_view{});
}

std::optional<u64> find_pebs_index(const Event& event) {
  if (!has_pebs_index(event)) return std::nullopt;
  return core::load<u64>(event.header, perfinfo_header);
}

core::ByteView header_counters(const Event& event) {
  if (!is_perfinfo(event)) return {};
  const auto before = perfinfo_header + (has_pebs_index(event) ? pebs_index : 0);
  return event.header.subspan(std::min(before, event.header.size()));
}

std::optional<u64> find_processor_time(const Event& event) {
  if (event.event_class != EventClass::manifest) return std::nullopt;
  using namespace event_header_flag;
  constexpr u16 others = no_cputime | processor_index;
  const auto flags = core::load<u16>(event.header, 4).value_or(0);
  if ((flags & (private_session | others)) != private_session) return std::nullopt;
  return core::load<u64>(event.header, 56);
}

std::optional<EventInstance> find_instance(const Event& event) {
  const auto type = static_cast<HeaderType>(event.header_type);
  if (type != HeaderType::instance32 && type != HeaderType::instance64) return std::nullopt;
  const auto in = core::Fields<24>::at(event.header, 48);
  if (!in) return std::nullopt;
  return EventInstance{in->get<u32, 0>(), in->get<u32, 4>(), core::to_guid(in->bytes<8, 16>())};
}

std::optional<MessageHeader> find_message_header(const Event& event) {
  if (event.event_class != EventClass::message) return std::nullopt;
  core::Reader in{event.header, "WPP message", 0};
  in.skip(6, "header");
  MessageHeader header{in.read_u16("Options"), std::nullopt, std::nullopt};
  if ((header.options & 0x1U) != 0) header.sequence = in.read_u32("Sequence");
  if ((header.options & 0x6U) == 0x4U) header.component = in.read_u32("ComponentId");
  return in.ok() ? std::optional{header} : std::nullopt;
}

}  // namespace coldtrace::tracefile
