#include "coldtrace/tracefile/live/live_event.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/tracefile/fields/value_text.hpp"
#include "tracefile/etl/event_header.hpp"
#include "tracefile/events/event_header_flags.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;

constexpr std::size_t header_size = 80;
constexpr std::size_t item_header = 8;
constexpr std::size_t longest_item = 0xffff - item_header;

// Text of all fields of an event, paths included: names of fields in arrays are told again and
// again, which 64 bytes for each of a payload justify.
constexpr std::size_t text_for_byte = 64;
constexpr std::size_t least_room = 64 << 10;

void append_item(std::vector<std::byte>& bytes, const ExtendedItem& item, bool is_last) {
  const auto put = [&](u16 number) {
    bytes.push_back(static_cast<std::byte>(number & 0xff));
    bytes.push_back(static_cast<std::byte>(number >> 8));
  };
  put(static_cast<u16>(item_header + item.data.size()));
  put(static_cast<u16>(item.type));
  put(is_last ? 0 : 1);
  put(static_cast<u16>(item.data.size()));
  bytes.insert(bytes.end(), item.data.begin(), item.data.end());
}

class FieldList final : public FieldVisitor {
 public:
  FieldList(std::size_t payload, DecodedEvent& event)
      : room_{std::max(least_room, payload * text_for_byte)}, event_{event} {}

  bool has_room(const FieldSchema&) override {
    event_.cut = room_ == 0;
    return !event_.cut;
  }

  void value(const FieldSchema& field, const Value& value) override {
    DecodedField one{path_of(field), texts_.plain(value), {}};
    if (field.map && value.out != OutType::encrypted)
      one.names = find_mapped_names(*field.map, value);
    room_ -= std::min(room_, one.path.size() + one.text.size() + one.names.size());
    event_.fields.push_back(std::move(one));
  }
  void begin_array(const FieldSchema& field) override {
    open_.push_back({path_of(field), 0, true});
  }
  void end_array() override { open_.pop_back(); }
  void begin_structure(const FieldSchema& field) override {
    open_.push_back({path_of(field), 0, false});
  }
  void end_structure() override { open_.pop_back(); }

 private:
  struct Open {
    std::string path;
    u64 next;  // element of an array
    bool array;
  };

  std::string path_of(const FieldSchema& field) {
    if (open_.empty()) return field.name;
    auto& in = open_.back();
    return in.array ? fmt::format("{}[{}]", in.path, in.next++)
                    : fmt::format("{}.{}", in.path, field.name);
  }

  std::size_t room_;
  DecodedEvent& event_;
  Clock no_clock_;
  ValueText texts_{no_clock_};
  std::vector<Open> open_;
};

}  // namespace

core::Result<LiveEvent> LiveEvent::read(core::BorrowedBytes given_header,
                                        core::BorrowedBytes given_payload,
                                        std::span<const ExtendedItem> items) {
  auto header = given_header.get();
  const auto payload = given_payload.get();
  if (header.size() < header_size)
    return core::fail(
        {core::Fault::truncated, 0, "EVENT_HEADER", "Size", header_size, header.size()});
  LiveEvent live;
  auto& event = live.event_;
  header = header.first(header_size);
  read_event_header(header, event);
  const auto flags = *core::load<u16>(header, 4);
  event.pointer_size = (flags & event_header_flag::header_of_32_bits) != 0 ? 4 : 8;
  event.has_time = true;
  event.header = header;
  event.payload = payload;
  event.size = static_cast<u32>(header_size + payload.size());
  if ((flags & event_header_flag::trace_message) != 0) {
    event.event_class = EventClass::message;
  } else if ((flags & event_header_flag::classic_header) != 0) {
    event.event_class = EventClass::classic;
    event.id = 0;
  }
  for (const auto& item : items) {
    if (item.data.size() > longest_item)
      return core::fail(
          {core::Fault::bad_value, 0, "extended item", "DataSize", longest_item, item.data.size()});
    event.trace_logging |= item.type == ExtendedType::schema;
    append_item(live.extended_, item, &item == &items.back());
  }
  event.extended = live.extended_;
  return live;
}

core::Result<DecodedEvent> decode_event(ByteView header, ByteView payload,
                                        const SchemaSource& schemas,
                                        std::span<const ExtendedItem> items) {
  const auto live = COLDTRACE_TRY(LiveEvent::read(header, payload, items));
  const auto& event = live.event();
  EventDecoder decoder{schemas};
  const auto& kind = decoder.kind_of(event);
  DecodedEvent told{kind.provider_name, kind.name, kind.undecoded, Decoded::raw, 0, {}, false};
  FieldList fields{payload.size(), told};
  const auto result = decoder.decode(event, kind, fields);
  told.decoded = result.decoded;
  told.left = payload.size() - result.consumed;
  return told;
}

}  // namespace coldtrace::tracefile
