#include "coldtrace/tracefile/packets/pcapng_writer.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

// Codes of blocks and options.
constexpr u32 section_header = 0x0a0d0d0a;
constexpr u32 interface_description = 1;
constexpr u32 enhanced_packet = 6;
constexpr u16 comment_option = 1;
constexpr u16 os_option = 3, application_option = 4;
constexpr u16 name_option = 2, description_option = 3, ipv4_option = 4, ipv6_option = 5,
              mac_option = 6, resolution_option = 9;
constexpr u16 flags_option = 2, packet_id_option = 5, verdict_option = 7;

template <class Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>(static_cast<u64>(number) >> (8 * i) & 0xff);
}

void pad(std::string& bytes) {
  bytes.append((4 - bytes.size() % 4) % 4, '\0');
}

template <class Bytes>
std::string_view chars(const Bytes& bytes) {
  return core::to_chars(core::ByteView{bytes});
}

void put_option(std::string& bytes, u16 code, std::string_view value) {
  put(bytes, code);
  put(bytes, static_cast<u16>(value.size()));
  bytes += value;
  pad(bytes);
}

// Text as far as an option has room for it; nothing of an empty one.
void put_text(std::string& bytes, u16 code, std::string_view text) {
  constexpr std::size_t longest = 65'535;
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end);
  }
  if (!text.empty()) put_option(bytes, code, text);
}

template <class Number>
void put_number(std::string& bytes, u16 code, Number number) {
  std::string value;
  put(value, number);
  put_option(bytes, code, value);
}

void end_options(std::string& bytes) {
  put(bytes, u32{0});
}

}  // namespace

void PcapngWriter::add_block(u32 type) {
  const auto size = static_cast<u32>(body_.size() + 12);
  std::string head;
  put(head, type);
  put(head, size);
  file_.append(head);
  file_.append(body_);
  file_.append(std::string_view{head}.substr(4));
  body_.clear();
}

void PcapngWriter::add_section(std::string_view system, std::string_view application) {
  put(body_, u32{0x1a2b3c4d});
  put(body_, u16{1});
  put(body_, u16{0});
  put(body_, ~u64{0});  // of unknown length
  put_text(body_, os_option, system);
  put_text(body_, application_option, application);
  end_options(body_);
  add_block(section_header);
}

void PcapngWriter::add_interface(LinkType link, const PacketInterface& described) {
  put(body_, static_cast<u16>(link));
  put(body_, u16{0});
  put(body_, u32{0});  // no limit of length
  put_text(body_, name_option, described.name);
  put_text(body_, description_option, described.description);
  for (const auto& address : described.ipv4)  // with the mask of one host
    put_option(body_, ipv4_option, std::string{chars(address)} + "\xff\xff\xff\xff");
  for (const auto& address : described.ipv6)
    put_option(body_, ipv6_option, std::string{chars(address)} + '\x80');
  if (described.mac) put_option(body_, mac_option, chars(*described.mac));
  put_number(body_, resolution_option, u8{7});  // 10^-7 s
  end_options(body_);
  add_block(interface_description);
}

void PcapngWriter::add_packet(u32 interface, const CapturedPacket& packet) {
  constexpr u64 unix_epoch = core::file_time_from_unix(0).ticks;
  const auto ticks =
      packet.time && packet.time->ticks > unix_epoch ? packet.time->ticks - unix_epoch : 0;
  put(body_, interface);
  put(body_, static_cast<u32>(ticks >> 32));
  put(body_, static_cast<u32>(ticks));
  put(body_, static_cast<u32>(packet.bytes.size()));
  put(body_, packet.original_size);
  body_ += chars(packet.bytes);
  pad(body_);
  put_text(body_, comment_option, packet.comment);
  if (packet.direction != PacketDirection::unknown)
    put_number(body_, flags_option, packet.direction == PacketDirection::inbound ? u32{1} : u32{2});
  if (packet.group) put_number(body_, packet_id_option, *packet.group);
  if (packet.dropped) {
    std::string verdict{'\x02'};  // of the eXpress Data Path: XDP_DROP
    put(verdict, u64{1});
    put_option(body_, verdict_option, verdict);
  }
  end_options(body_);
  add_block(enhanced_packet);
}

}  // namespace coldtrace::tracefile
