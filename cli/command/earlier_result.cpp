#include "cli/command/earlier_result.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/output/stream_packer.hpp"
#include "cli/output/xz_pack.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/schema_files/schema_store.hpp"

namespace coldtrace::cli {

bool replaces_trace(const std::string& format) {
  return format == "ctrace";
}

bool is_own(core::FileKind kind) {
  return kind >= core::FileKind::ctrace && kind <= core::FileKind::coldtrace_json;
}

// So the modules of a folder and the other segments of an image are safe without a list of them.
bool is_evidence(core::FileKind kind) {
  using core::FileKind;
  return (kind >= FileKind::pe_image && kind <= FileKind::ntfs_index && !is_own(kind)) ||
         core::is_packed(kind);
}

bool is_text(core::ByteView bytes) {
  return std::ranges::none_of(bytes, [](std::byte byte) {
    return byte < std::byte{9} || (byte > std::byte{13} && byte < std::byte{32});
  });
}

namespace {

// Whether it is a symbol table that "pe isf --xz" wrote.
bool is_own_packed_table(const core::FileImage& file) {
  constexpr std::string_view start =
      R"({"metadata":{"format":"6.2.0","producer":{"name":"coldtrace",)";
  std::array<std::byte, 4096> packed;
  const auto head =
      std::span{packed}.first(static_cast<std::size_t>(std::min<u64>(packed.size(), file.size())));
  return file.read_at(0, head) && unpack_xz_start(head, start.size()) == start;
}

// Takes a number as protocol buffers write it, of at most ten bytes.
std::optional<u64> take_varint(core::ByteView& bytes) {
  u64 value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<u64>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Whether a packet of `length` bytes of a Perfetto trace starts with the fields that
// PerfettoPackets' users write first: a time or none, and then the sequence (always 1), a process
// tree, clocks or events of ETW; or that it is a group of packets that zlib compressed. Source:
// google/perfetto, trace_packet.proto.
bool starts_own_packet(core::ByteView packet, u64 length) {
  constexpr auto varint = [](u64 field) { return field << 3; };
  constexpr auto message = [](u64 field) { return field << 3 | 2; };
  const auto shown = packet.size();
  auto key = take_varint(packet);
  if (key == message(50)) {
    const auto size = take_varint(packet);
    constexpr std::byte deflate{0x78};
    return size && *size == length - (shown - packet.size()) && !packet.empty() &&
           packet.front() == deflate;
  }
  if (key == message(95)) return true;
  const bool timed = key == varint(8);
  if (timed) key = take_varint(packet) ? take_varint(packet) : std::nullopt;
  if (key == varint(10)) return take_varint(packet) == 1U;
  return timed && (key == message(2) || key == message(6));
}

// Whether it begins with packets of a Perfetto trace as coldtrace writes them: field 1, a length
// and so many bytes, one behind the other up to the end, or 64 of them. Of one that is `cut` the
// last may lack some.
bool is_own_perfetto_trace(const core::ImageSource& file, bool cut = false) {
  constexpr u64 most_read = 48;  // keys, lengths and values of at most ten bytes each
  constexpr int most_packets = 64;
  u64 at = 0;
  for (int packets = 0; packets < most_packets && at < file.size(); ++packets) {
    std::array<std::byte, most_read> bytes{};
    const auto read =
        std::span{bytes}.first(static_cast<std::size_t>(std::min(most_read, file.size() - at)));
    if (!file.read_at(at, read)) return false;
    core::ByteView head{read};
    const auto key = take_varint(head);
    const auto length = take_varint(head);
    constexpr u64 packet = 0x0a;
    const bool may_lack = cut && packets > 0 && read.size() < most_read;
    if (key && *key != packet) return false;
    if (!key || !length) return may_lack;
    const u64 header_size = read.size() - head.size();
    const bool whole = *length <= file.size() - at - header_size;
    const auto start = head.first(static_cast<std::size_t>(std::min<u64>(head.size(), *length)));
    if (!starts_own_packet(start, *length)) return !whole && may_lack;
    if (!whole) return cut;
    at += header_size + *length;
  }
  return at > 0;
}

// Whether it is the start of a database that coldtrace wrote, of which recognize_file() knows but a
// whole one. Source: "Database File Format", 1.3: the application id.
bool starts_own_database(core::ByteView start) {
  constexpr std::size_t application_id = 68;
  const auto own = std::as_bytes(std::span{std::string_view{"cold"}});
  const auto id = core::slice(start, application_id, own.size());
  return id && std::ranges::equal(*id, own);
}

// Whether it is packed text, or what only coldtrace writes: what an output of this name replaces
// where it is not packed too. Its first bytes tell.
bool holds_result(const core::FileImage& file, const std::string& name, core::FileKind kind,
                  const std::string& format) {
  const auto packing = packing_of(name);
  if (kind != (packing == Packing::gzip ? core::FileKind::gzip : core::FileKind::zstandard) ||
      packing == Packing::none)
    return false;
  constexpr std::size_t most = std::size_t{1} << 18;
  std::vector<std::byte> packed(std::min<u64>(most, file.size()));
  if (!file.read_at(0, packed)) return false;
  const auto text = unpack_start(packed, packing, most);
  const auto start = std::as_bytes(std::span{text});
  const core::MemoryImage unpacked{start};
  const auto inner = core::recognize_bytes(start);
  if (text.empty()) return false;
  if (inner == core::FileKind::sqlite) return starts_own_database(start);
  if (inner == core::FileKind::ctrace) return replaces_trace(format);
  if (inner == core::FileKind::unknown && is_own_perfetto_trace(unpacked, text.size() == most))
    return true;
  return !is_evidence(inner) && (is_own(inner) || is_text(start));
}

bool is_schema_store(const core::FileImage& file) {
  std::array<std::byte, 64> start{};
  const auto head =
      std::span{start}.first(static_cast<std::size_t>(std::min<u64>(start.size(), file.size())));
  return file.read_at(0, head) && schema_files::SchemaStore::is_store(head);
}

}  // namespace

bool is_earlier_result(const std::string& file, const std::string& name, core::FileKind kind,
                       const std::string& format) {
  const auto opened = core::FileImage::open(file);
  if (!opened) return false;
  const auto& image = **opened;
  if (kind == core::FileKind::xz) return is_own_packed_table(image);
  if (kind == core::FileKind::unknown)
    return is_own_perfetto_trace(image) || is_schema_store(image);
  return holds_result(image, name, kind, format);
}

}  // namespace coldtrace::cli
