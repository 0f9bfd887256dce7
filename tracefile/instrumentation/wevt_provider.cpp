#include <algorithm>

#include "tracefile/instrumentation/wevt_text.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;
using core::Fields;
using core::ParseError;

constexpr u32 signature(const char (&name)[5]) {
  u32 number = 0;
  for (unsigned i = 0; i < 4; ++i)
    number |= static_cast<u32>(static_cast<unsigned char>(name[i])) << 8 * i;
  return number;
}

enum class Element : u32 {
  levels = 0,
  tasks = 1,
  opcodes = 2,
  keywords = 3,
  events = 4,
  channels = 5,
  maps = 6,
  templates = 7,
  event_names = 12,
  provider_name = 13,
};

constexpr std::size_t head_size = 12;
constexpr std::size_t events_head_size = 16;

class ProviderReader {
 public:
  ProviderReader(const WevtResource& resource, core::Findings& findings)
      : resource_{resource}, findings_{findings}, texts_{resource} {}

  core::Result<WevtProvider> read(const WevtResource::Provider& place) {
    provider_.guid = place.guid;
    constexpr std::size_t size = 16;
    const auto header = Fields<size>::at(resource_.bytes, place.offset);
    if (!header)
      return core::fail(error(Fault::out_of_bounds, place.offset, "offset", place.offset));
    if (header->get<u32, 0>() != signature("WEVT"))
      return core::fail(ParseError{Fault::bad_magic, resource_.offset + place.offset, "WEVT",
                                   "signature", signature("WEVT"), header->get<u32, 0>()});
    provider_.message = header->get<u32, 8>();
    const auto table = u64{place.offset} + size;
    const auto count = std::min<u64>(header->get<u32, 12>(), most_elements);
    for (u64 i = 0; i < count; ++i) {
      const auto pair = Fields<8>::at(resource_.bytes, table + i * 8);
      if (!pair) {
        damaged(error(Fault::out_of_bounds, place.offset + 12, "elements", count));
        break;
      }
      read_element(static_cast<Element>(pair->get<u32, 0>()), pair->get<u32, 4>());
    }
    return std::move(provider_);
  }

 private:
  // Types have numbers up to 13, and each comes once.
  static constexpr u64 most_elements = 64;

  // The rows of one element.
  struct Rows {
    u64 first = 0;
    u32 count = 0;
    u32 size = 0;  // as the head says
  };

  ParseError error(Fault fault, u64 at, core::Name field, u64 found) const {
    return {fault, resource_.offset + at, "WEVT", field, resource_.bytes.size(), found};
  }

  void damaged(const ParseError& error) { findings_.warning("schema-damaged", error); }

  void read_element(Element type, u32 offset) {
    switch (type) {
      case Element::levels:
        return read_level_rows(offset, signature("LEVL"), provider_.levels);
      case Element::opcodes:
        return read_level_rows(offset, signature("OPCO"), provider_.opcodes);
      case Element::tasks:
        return read_tasks(offset);
      case Element::keywords:
        return read_keywords(offset);
      case Element::channels:
        return read_channels(offset);
      case Element::maps:
        return read_maps(offset);
      case Element::event_names:
        return read_event_names(offset);
      case Element::provider_name:
        return read_provider_name(offset);
      case Element::events: {
        const auto rows =
            rows_at(offset, signature("EVNT"), WevtEvent::size_on_disk, events_head_size);
        provider_.first_event = static_cast<u32>(rows.first);
        provider_.events = rows.count;
        return;
      }
      case Element::templates: {
        constexpr std::size_t least_size = 40;
        const auto rows = rows_at(offset, signature("TTBL"), least_size);
        provider_.first_template = static_cast<u32>(rows.first);
        provider_.templates = rows.count;
        return;
      }
    }
    findings_.info("schema-element", resource_.offset + offset,
                   "a provider has an element of unknown type {}; it is left out",
                   static_cast<u32>(type));
  }

  // As many rows as there is room for. Where their number is damaged, that costs those behind.
  Rows rows_at(u32 offset, u32 wanted, std::size_t row_size, std::size_t head = head_size) {
    const auto fields = Fields<head_size>::at(resource_.bytes, offset);
    if (!fields) {
      damaged(error(Fault::out_of_bounds, offset, "element", offset));
      return {};
    }
    if (fields->get<u32, 0>() != wanted) {
      damaged({Fault::bad_magic, resource_.offset + offset, "WEVT", "element", wanted,
               fields->get<u32, 0>()});
      return {};
    }
    Rows rows{u64{offset} + head, fields->get<u32, 8>(), fields->get<u32, 4>()};
    const auto end = resource_.bytes.size();
    const auto room = rows.first < end ? (end - rows.first) / row_size : 0;
    if (rows.count > room) {
      damaged(
          {Fault::out_of_bounds, resource_.offset + offset + 8, "WEVT", "rows", room, rows.count});
      rows.count = static_cast<u32>(room);
    }
    return rows;
  }

  std::string name(u32 offset) {
    auto text = texts_.read_sized(offset);
    if (!text) damaged(text.error());
    return text ? std::move(*text) : std::string{};
  }

  // Calls `read` with the fields and the offset of each row.
  template <std::size_t Size, class Read>
  void for_each_row(const Rows& rows, Read read) {
    for (u32 i = 0; i < rows.count; ++i) {
      const auto at = rows.first + u64{i} * Size;
      read(*Fields<Size>::at(resource_.bytes, at), static_cast<u32>(at));
    }
  }

  void read_level_rows(u32 offset, u32 wanted, std::vector<WevtRow>& into) {
    for_each_row<12>(rows_at(offset, wanted, 12), [&](const auto& row, u32 at) {
      into.push_back({at, row.template get<u32, 0>(), row.template get<u32, 4>(),
                      name(row.template get<u32, 8>())});
    });
  }

  void read_tasks(u32 offset) {
    for_each_row<28>(rows_at(offset, signature("TASK"), 28), [&](const auto& row, u32 at) {
      provider_.tasks.push_back({at, row.template get<u32, 0>(), row.template get<u32, 4>(),
                                 name(row.template get<u32, 24>()),
                                 core::to_guid(row.template bytes<8, 16>())});
    });
  }

  void read_keywords(u32 offset) {
    for_each_row<16>(rows_at(offset, signature("KEYW"), 16), [&](const auto& row, u32 at) {
      provider_.keywords.push_back({at, row.template get<u64, 0>(), row.template get<u32, 8>(),
                                    name(row.template get<u32, 12>())});
    });
  }

  void read_channels(u32 offset) {
    for_each_row<16>(rows_at(offset, signature("CHAN"), 16), [&](const auto& row, u32 at) {
      provider_.channels.push_back({at,
                                    row.template get<u32, 8>(),
                                    row.template get<u32, 12>(),
                                    name(row.template get<u32, 4>()),
                                    {},
                                    row.template get<u32, 0>() == 1});
    });
  }

  void read_maps(u32 offset) {
    for_each_row<4>(rows_at(offset, signature("MAPS"), 4), [&](const auto& row, u32) {
      provider_.maps.push_back(row.template get<u32, 0>());
    });
  }

  void read_event_names(u32 offset) {
    for_each_row<8>(rows_at(offset, signature("EVTA"), 8), [&](const auto& row, u32) {
      constexpr u8 name_of_event = 0x11;
      if (row.template get<u8, 0>() != name_of_event) return;
      auto text = texts_.read_bare(row.template get<u32, 4>());
      if (!text) return damaged(text.error());
      provider_.event_names.push_back(
          {row.template get<u16, 2>(), row.template get<u8, 1>(), std::move(*text)});
    });
  }

  void read_provider_name(u32 offset) {
    for_each_row<8>(rows_at(offset, signature("PRVA"), 8), [&](const auto& row, u32) {
      constexpr u32 name_of_provider = 0x1000'0001;
      if (row.template get<u32, 0>() != name_of_provider) return;
      auto text = texts_.read_bare(row.template get<u32, 4>());
      if (!text) return damaged(text.error());
      provider_.name = std::move(*text);
    });
  }

  const WevtResource& resource_;
  core::Findings& findings_;
  WevtTexts texts_;
  WevtProvider provider_;
};

std::pair<u16, u8> key_of(const WevtEvent& event) {
  return {event.id, event.version};
}

}  // namespace

core::Result<WevtProvider> read_wevt_provider(const WevtResource& resource,
                                              const WevtResource::Provider& provider,
                                              core::Findings& findings) {
  return ProviderReader{resource, findings}.read(provider);
}

std::optional<WevtEvent> read_wevt_event(const WevtResource& resource, const WevtProvider& provider,
                                         u32 index) {
  if (index >= provider.events) return std::nullopt;
  const auto at = provider.first_event + u64{index} * WevtEvent::size_on_disk;
  const auto in = Fields<WevtEvent::size_on_disk>::at(resource.bytes, at);
  if (!in) return std::nullopt;
  WevtEvent event;
  event.offset = static_cast<u32>(at);
  event.id = in->get<u16, 0>();
  event.version = in->get<u8, 2>();
  event.channel = in->get<u8, 3>();
  event.level = in->get<u8, 4>();
  event.opcode = in->get<u8, 5>();
  event.task = in->get<u16, 6>();
  event.keywords = in->get<u64, 8>();
  event.message = in->get<u32, 16>();
  event.fields = in->get<u32, 20>();
  event.opcode_row = in->get<u32, 24>();
  event.level_row = in->get<u32, 28>();
  event.task_row = in->get<u32, 32>();
  event.keyword_count = in->get<u32, 36>();
  event.keyword_rows = in->get<u32, 40>();
  event.channel_row = in->get<u32, 44>();
  return event;
}

std::optional<WevtEvent> find_wevt_event(const WevtResource& resource, const WevtProvider& provider,
                                         u16 id, u8 version) {
  const auto wanted = std::pair{id, version};
  u32 low = 0;
  u32 high = provider.events;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    const auto event = read_wevt_event(resource, provider, middle);
    if (!event) return std::nullopt;
    if (key_of(*event) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < provider.events; ++low) {
    const auto event = read_wevt_event(resource, provider, low);
    if (!event || key_of(*event) != wanted) return std::nullopt;
    if (!event->is_classic()) return event;
  }
  return std::nullopt;
}

}  // namespace coldtrace::tracefile
