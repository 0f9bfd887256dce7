#include "coldtrace/tracefile/packets/packet_capture.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "tracefile/packets/appearance_merge.hpp"
#include "tracefile/packets/fragment_join.hpp"
#include "tracefile/packets/frame_headers.hpp"

namespace coldtrace::tracefile {
namespace {

using Field = PacketField;

// Keywords of Microsoft-Windows-NDIS-PacketCapture. Source: its manifest.
constexpr u64 wireless_wan = 0x200;
constexpr u64 native_wifi = 0x10000;
constexpr u64 packet_start = 0x40000000;
constexpr u64 packet_end = 0x80000000;
constexpr u64 send_path = 0x100000000;
constexpr u64 receive_path = 0x200000000;

LinkType link_of(u64 keywords) {
  if ((keywords & native_wifi) != 0) return LinkType::wifi;
  return (keywords & wireless_wan) != 0 ? LinkType::ip : LinkType::ethernet;
}

PacketDirection direction_of(u64 keywords) {
  if ((keywords & send_path) != 0) return PacketDirection::outbound;
  return (keywords & receive_path) != 0 ? PacketDirection::inbound : PacketDirection::unknown;
}

// PktMon's PacketType.
LinkType link_of_type(u64 type) {
  switch (type) {
    case 1:
      return LinkType::ethernet;
    case 2:
      return LinkType::wifi;
    case 3:
      return LinkType::ip;
    default:
      return LinkType::other;
  }
}

// PktMon's DirTag: none, in, out, Rx, Tx, ingress, egress.
PacketDirection direction_of_tag(u64 tag) {
  if (tag == 0 || tag > 6) return PacketDirection::unknown;
  return tag % 2 == 1 ? PacketDirection::inbound : PacketDirection::outbound;
}

void add_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

// DOT11_EXTSTA_RECV_CONTEXT of a 64-bit Windows. Source: windot11.h.
std::string describe_reception(core::ByteView metadata) {
  constexpr std::size_t size = 48;
  const auto context = core::Fields<size>::at(metadata, 0);
  if (!context || metadata.size() != size) return {};
  return fmt::format(
      "802.11: {} MHz, RSSI {} dBm, data rate {} of 500 kbit/s, PHY {}, {} MPDUs, receive flags "
      "{:#x}",
      context->get<u32, 12>(), context->get<i32, 20>(), context->get<u8, 24>(),
      context->get<u32, 8>(), context->get<u16, 16>(), context->get<u32, 4>());
}

// Of NDIS_NET_BUFFER_LIST_8021Q_INFO, the fifth pointer-sized member of the information beside a
// packet; 0 is none. Source: nblinfo.h.
u32 vlan_of(core::ByteView oob_data, unsigned pointer_size) {
  const auto tag = core::load<u16>(oob_data, std::size_t{4} * pointer_size);
  return tag ? *tag >> 4 : 0U;
}

}  // namespace

class PacketCapture::Maker {
 public:
  Maker(const EventContext& context, const PacketCaptureOptions& options, core::Findings& findings,
        Sink sink)
      : context_{context},
        options_{options},
        findings_{findings},
        sink_{std::move(sink)},
        decoder_{context.schemas},
        merge_{[this](const CapturedPacket& packet) {
          ++packets_;
          sink_(packet);
        }} {}

  void add(const Event& event) {
    const auto kind = PacketRecord::kind_of(event);
    if (!kind) return;
    switch (*kind) {
      case PacketRecordKind::fragment:
      case PacketRecordKind::switch_fragment:
        if (read(event)) add_fragment(event, *kind);
        break;
      case PacketRecordKind::metadata:
        if (read(event)) add_metadata();
        break;
      case PacketRecordKind::appearance:
      case PacketRecordKind::drop:
        if (read(event)) add_appearance(event, *kind == PacketRecordKind::drop);
        break;
      default:
        break;
    }
  }

  void give_up_fragments() {
    for (auto& begun : join_.give_up()) give_incomplete(std::move(begun));
  }

  void finish() {
    give_up_fragments();
    merge_.finish();
  }

  u64 packets() const { return packets_; }

 private:
  bool read(const Event& event) {
    if (!decoder_.kind_of(event).schema) {
      findings_.warning("packet-layout", event.buffer_offset,
                        "event {} version {} of a packet capture has no known layout", event.id,
                        event.version);
      return false;
    }
    if (record_.read(event, decoder_)) return true;
    findings_.warning("packet-damaged", event.buffer_offset,
                      "event {} of a packet capture, at {:#x} of its buffer, ends inside a field",
                      event.id, event.offset);
    return false;
  }

  CapturedPacket packet_of(const Event& event, Field bytes) {
    CapturedPacket packet;
    packet.time = time_of(event, context_.clock);
    if (!packet.time || *packet.time < core::file_time_from_unix(0))
      findings_.warning(
          "packet-time", event.buffer_offset,
          "packets have no time, or one before 1970; they are written with 1970-01-01");
    const auto content = record_.bytes(bytes);
    packet.bytes.assign(content.begin(), content.end());
    packet.comment = process_line(event);
    return packet;
  }

  std::string process_line(const Event& event) const {
    if (!event.pid || !event.tid || (*event.pid == 0 && *event.tid == 0)) return {};
    const auto name = context_.names.get().find_process(*event.pid, event.name_time());
    return fmt::format("logged in process {}{}, thread {}", *event.pid,
                       name && !name->empty() ? fmt::format(" ({})", core::printable(*name)) : "",
                       *event.tid);
  }

  PacketPlace place_of(const Event& event, PacketRecordKind kind) const {
    const bool on_switch = kind == PacketRecordKind::switch_fragment;
    return {on_switch ? PacketPlace::Kind::switch_port : PacketPlace::Kind::layer,
            link_of(event.keywords), record_.number32(Field::lower),
            on_switch ? record_.number32(Field::port_id) : 0};
  }

  void add_fragment(const Event& event, PacketRecordKind kind) {
    FragmentJoin::Source source{place_of(event, kind), direction_of(event.keywords), event.tid, {}};
    if (event.tid == 0U) source.cpu = event.cpu;
    const bool starts = (event.keywords & packet_start) != 0;
    const bool ends = (event.keywords & packet_end) != 0;
    if (starts) {
      if (join_.full()) give_up_fragments();
      auto before = join_.begin(source, first_fragment(event, source, kind), event.buffer_offset);
      if (before) give_incomplete(std::move(*before));
    } else if (!append(event, source)) {
      return;
    }
    if (ends) give(join_.end(source), event);
  }

  CapturedPacket first_fragment(const Event& event, const FragmentJoin::Source& source,
                                PacketRecordKind kind) {
    auto packet = packet_of(event, Field::fragment);
    packet.place = source.place;
    packet.direction = source.direction;
    if (kind == PacketRecordKind::switch_fragment) {
      if (const auto vlan = vlan_of(record_.bytes(Field::oob_data), event.pointer_size); vlan > 0)
        add_line(packet.comment, fmt::format("VLAN {}", vlan));
    } else if (const auto found = receptions_.find(record_.number32(Field::lower));
               found != receptions_.end()) {
      add_line(packet.comment, found->second);
      receptions_.erase(found);
    }
    return packet;
  }

  bool append(const Event& event, const FragmentJoin::Source& source) {
    auto* const packet = join_.find(source);
    const auto more = record_.bytes(Field::fragment);
    if (packet == nullptr) {
      findings_.warning("packet-fragment", event.buffer_offset,
                        "a fragment of {} bytes, at {:#x} of its buffer, continues a packet "
                        "whose start is missing: it is left out",
                        more.size(), event.offset);
      return false;
    }
    if (packet->bytes.size() + more.size() > FragmentJoin::longest_packet) {
      findings_.warning("packet-fragment", event.buffer_offset,
                        "the fragments of a packet are more than {} bytes; the rest is left out",
                        FragmentJoin::longest_packet);
      give(join_.end(source), event);
      return false;
    }
    packet->bytes.insert(packet->bytes.end(), more.begin(), more.end());
    return true;
  }

  void give_incomplete(FragmentJoin::Begun begun) {
    findings_.warning(
        "packet-fragment", begun.offset,
        "the last fragments of a packet are missing; it is written as far as it goes");
    add_line(begun.packet.comment, "incomplete: the trace lacks its last fragments");
    finish_packet(begun.packet, begun.offset);
    merge_.add(std::move(begun.packet));
  }

  void give(CapturedPacket packet, const Event& event) {
    finish_packet(packet, event.buffer_offset);
    merge_.add(std::move(packet));
  }

  // What the bytes themselves tell.
  void finish_packet(CapturedPacket& packet, u64 offset) {
    const auto captured = static_cast<u32>(packet.bytes.size());
    packet.original_size =
        std::max({captured, packet.original_size, told_length(packet.place.link, packet.bytes)});
    if (packet.original_size > captured)
      findings_.info("packet-truncated", offset, "only the first bytes of packets were captured");
    add_owners(packet);
    if (packet.place.link == LinkType::wifi && is_decrypted(packet.bytes)) {
      packet.bytes[1] &= std::byte{0xbf};
      findings_.info("packet-decrypted", offset,
                     "frames were captured after decryption; their Protected bit is cleared");
    }
  }

  // Of both ends where both are of this machine.
  void add_owners(CapturedPacket& packet) const {
    if (options_.owners == nullptr || !packet.time) return;
    auto connection = find_connection(packet.place.link, packet.bytes);
    if (!connection) return;
    for (const auto* const way : {"sent", "received"}) {
      if (const auto owner = options_.owners->find(*connection, *packet.time))
        add_line(packet.comment,
                 fmt::format("{} by process {}{}, by its connection", way, owner->pid,
                             owner->process.empty()
                                 ? ""
                                 : fmt::format(" ({})", core::printable(owner->process))));
      std::swap(connection->local, connection->remote);
    }
  }

  void add_metadata() {
    auto line = describe_reception(record_.bytes(Field::metadata));
    if (line.empty() || receptions_.size() >= FragmentJoin::most_open) return;
    receptions_[record_.number32(Field::lower)] = std::move(line);
  }

  void add_appearance(const Event& event, bool drop) {
    auto packet = packet_of(event, Field::payload);
    const auto type = record_.number(Field::packet_type);
    packet.place = {PacketPlace::Kind::component, link_of_type(type),
                    record_.number32(Field::component), 0};
    packet.direction = direction_of_tag(record_.number(Field::direction));
    packet.original_size = record_.number32(Field::original);
    packet.group = record_.number(Field::group);
    packet.dropped = drop;
    correct_link(packet);
    if (packet.place.link == LinkType::other) note_other(packet, event);
    finish_packet(packet, event.buffer_offset);
    AppearanceMerge::Appearance seen{
        record_.number(Field::group), static_cast<u16>(record_.number(Field::number)),
        static_cast<u16>(record_.number(Field::edge)), drop ? drop_text() : std::string{}};
    if (!is_counted()) {
      constexpr u32 unknown_processor = 0x10000;  // behind all that an event can name
      seen.uncounted_on = event.cpu ? u32{*event.cpu} : unknown_processor;
      findings_.info(
          "packet-uncounted", event.buffer_offset,
          "appearances are not counted, as is usual since Windows 11 24H2: those with the "
          "same bytes are taken for one packet");
    }
    if (options_.every_appearance)
      give_appearance(seen, std::move(packet));
    else if (!merge_.add(seen, std::move(packet)) && record_.number(Field::appearance) > 1)
      findings_.info("packet-late", event.buffer_offset,
                     "packets are first seen at a later appearance: earlier ones are not in the "
                     "trace, not selected, or long before");
  }

  // PktMon counts appearances from 1; since Windows 11 24H2 it leaves 0 and gives each a group of
  // its own. Observed on builds 26100 and 26200.
  bool is_counted() const { return record_.number(Field::appearance) != 0; }

  void note_other(CapturedPacket& packet, const Event& event) {
    const auto name = record_.mapped(Field::packet_type);
    add_line(packet.comment, fmt::format("PacketType {}{}{}", record_.number(Field::packet_type),
                                         name.empty() ? "" : " ", core::printable(name)));
    findings_.info("packet-link-type", event.buffer_offset,
                   "packets are of a PacketType without a link type: they get 147, for private "
                   "use");
  }

  // Lower edges of filters above a Wi-Fi adapter say WiFi while the frame is still Ethernet, as the
  // upper edge has just said of the same bytes. Observed on Windows 10 19042.
  void correct_link(CapturedPacket& packet) {
    constexpr std::size_t most_bytes = std::size_t{16} << 20;
    const auto group =
        is_counted() ? *packet.group : std::hash<std::string_view>{}(core::to_chars(packet.bytes));
    if (packet.place.link == LinkType::ethernet) {
      if (ethernet_bytes_ > most_bytes) {
        ethernet_.clear();
        ethernet_bytes_ = 0;
      }
      auto& kept = ethernet_[group];
      ethernet_bytes_ += packet.bytes.size() + sizeof(decltype(ethernet_)::value_type);
      kept = packet.bytes;
    } else if (packet.place.link == LinkType::wifi) {
      const auto found = ethernet_.find(group);
      if (found != ethernet_.end() && !packet.bytes.empty() && found->second == packet.bytes)
        packet.place.link = LinkType::ethernet;
    }
  }

  std::string drop_text() const {
    const auto reason = record_.number(Field::reason);
    const auto name = record_.mapped(Field::reason);
    return fmt::format("{}{}{}, location {:#x}", core::printable(name),
                       name.empty() ? "reason " : " (",
                       name.empty() ? fmt::format("{}", reason) : fmt::format("{})", reason),
                       record_.number(Field::location));
  }

  void give_appearance(const AppearanceMerge::Appearance& seen, CapturedPacket packet) {
    const auto count =
        is_counted() ? fmt::format("appearance {} of ", record_.number(Field::appearance)) : "";
    add_line(packet.comment,
             fmt::format("{}packet {} of its group, edge {}", count, seen.number, seen.edge));
    if (!seen.drop.empty()) add_line(packet.comment, "dropped: " + seen.drop);
    merge_.add(std::move(packet));
  }

  const EventContext context_;
  const PacketCaptureOptions options_;
  core::Findings& findings_;
  Sink sink_;
  EventDecoder decoder_;
  PacketRecord record_;
  FragmentJoin join_;
  AppearanceMerge merge_;
  std::unordered_map<u32, std::string> receptions_;  // of the next frame of an interface
  // The last such frame of each group, by its content where appearances are not counted.
  std::unordered_map<u64, std::vector<std::byte>> ethernet_;
  std::size_t ethernet_bytes_ = 0;
  u64 packets_ = 0;
};

PacketCapture::PacketCapture(const EventContext& context, const PacketCaptureOptions& options,
                             core::Findings& findings, Sink sink)
    : maker_{std::make_unique<Maker>(context, options, findings, std::move(sink))} {}

PacketCapture::~PacketCapture() = default;

void PacketCapture::add(const Event& event) {
  maker_->add(event);
}
void PacketCapture::add_gap() {
  maker_->give_up_fragments();
}
void PacketCapture::finish() {
  maker_->finish();
}
u64 PacketCapture::packets() const {
  return maker_->packets();
}

void note_no_packets(const PacketCapture& capture, core::Findings& findings) {
  if (capture.packets() == 0)
    findings.warning("no-match", std::nullopt,
                     "no packet of Microsoft-Windows-NDIS-PacketCapture or "
                     "Microsoft-Windows-PktMon is in the trace, or selected");
}

PacketSurroundings find_packet_surroundings(const EventContext& context, EventSequence& events) {
  PacketSurroundings found;
  PacketRecord record;
  EventDecoder decoder{context.schemas};
  for (auto item = events.next(); item != EventSequence::Item::end; item = events.next()) {
    if (item != EventSequence::Item::event) continue;
    const auto kind = PacketRecord::kind_of(events.event());
    if (!kind)
      found.owners.add(events.event(), context, decoder);
    else if (record.read(events.event(), decoder))
      found.interfaces.learn(*kind, record);
  }
  return found;
}

}  // namespace coldtrace::tracefile
