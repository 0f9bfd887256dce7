#include "tracefile/etl/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "tracefile/etl/buffer_finder.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u32 header_size = BufferHeader::size_on_disk;
// How far into the file a first buffer may be lost: no session's buffers are larger.
constexpr u64 search_limit = u64{32} << 20;
constexpr u32 largest_record = 0xffff;
constexpr unsigned most_candidates = 256;

Compression compression_of(const LogfileHeader& logfile, u32 state) {
  if ((logfile.log_file_mode & LogfileHeader::compressed) == 0) return Compression::none;
  const auto format = state & 0xffffU;
  return format == 2   ? Compression::lznt1
         : format == 4 ? Compression::xpress_huffman
                       : Compression::xpress;
}

// A record that is longer than what is left of the file is whole where that is: the file is cut.
core::ParseError cut_off(core::ParseError error, bool at_end) {
  if (!at_end || error.fault != Fault::bad_value || error.field.view() != "Size" ||
      error.found <= error.expected)
    return error;
  error.fault = Fault::truncated;
  std::swap(error.expected, error.found);
  return error;
}

// Why the first buffer, whose bytes lie at `at`, does not start with an event.
core::ParseError header_damage(const BufferWalker& walker, core::ByteView bytes, u64 at,
                               bool at_end) {
  if (!walker.damage().empty()) return cut_off(walker.damage().front().error, at_end);
  const auto marker = core::load<u32>(bytes, header_size);
  if (!marker) return {Fault::truncated, at + header_size, "trace header", "Marker", 8, 0};
  return {Fault::bad_magic, at + header_size, "trace header",
          "Marker",         0xc0000000,       *marker};  // filler
}

// The session by the header event, which the first buffer, at `at`, starts with; whatever the
// buffer's own header says.
core::Result<BufferScan> read_header_event(const core::ImageSource& source, u64 at) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::min<u64>(source.size() - at, header_size + largest_record)));
  const auto read = source.read_at(at, bytes);
  if (!read) bytes.resize(core::read_before_error(source, at, bytes));
  if (!read && bytes.size() < header_size) return core::fail(read.error());
  BufferWalker walker{bytes, {at, false, std::nullopt}, header_size, OnDamage::stop};
  if (!walker.next()) {
    const auto error =
        header_damage(walker, bytes, at, !read || at + bytes.size() == source.size());
    return core::fail(read || error.fault != Fault::truncated ? error : read.error());
  }
  const auto& event = walker.event();
  if (event.kernel_group != u8{0} || event.opcode != 0)
    return core::fail({Fault::bad_magic, at + header_size, "trace header", "HookId", 0,
                       u64{event.kernel_group.value_or(0xff)} << 8 | event.opcode});
  const u64 payload_offset = at + header_size + (event.size - event.payload.size());
  auto logfile =
      COLDTRACE_TRY(read_logfile_header(event.payload, event.pointer_size, payload_offset));
  const auto buffer = load_buffer_header(bytes);
  const auto compression = compression_of(logfile, buffer.state);
  return BufferScan{true, std::move(logfile), event.timestamp, event.pointer_size, compression, {},
                    {}};
}

core::Result<BufferScan> read_first_buffer(const core::ImageSource& source) {
  std::array<std::byte, header_size> bytes;
  if (source.size() < header_size)
    return core::fail(
        {Fault::truncated, 0, "WMI_BUFFER_HEADER", "BufferSize", header_size, source.size()});
  COLDTRACE_TRY(source.read_at(0, bytes));
  const auto header = COLDTRACE_TRY(read_buffer_header(bytes, 0));
  if (header.type != BufferHeader::header_buffer || (header.flags & BufferHeader::compressed) != 0)
    return core::fail({Fault::bad_magic, 0x36, "WMI_BUFFER_HEADER", "BufferType",
                       BufferHeader::header_buffer, header.type});
  return read_header_event(source, 0);
}

// What can be told without the header when all bytes of the buffer are events; nothing otherwise.
std::optional<BufferScan> infer_session(const core::ImageSource& source, const BufferHeader& header,
                                        u64 at) {
  const bool packed = (header.flags & BufferHeader::compressed) != 0;
  if (packed && header.filled > BufferHeader::unpacked_per_byte * header.size) return std::nullopt;
  const auto entry = to_entry(header, at, header.size);
  for (const auto compression :
       {Compression::xpress, Compression::lznt1, Compression::xpress_huffman}) {
    const auto buffer = load_buffer(source, entry, compression);
    BufferWalker walker{buffer->bytes, {at, packed, std::nullopt}, header_size, OnDamage::stop};
    unsigned pointer_size = 0;
    while (!buffer->damaged && walker.next())
      pointer_size = std::max<unsigned>(pointer_size, walker.event().pointer_size);
    if (pointer_size != 0 && walker.damage().empty()) {
      LogfileHeader logfile{};
      logfile.buffer_size = packed ? 0 : header.size;
      return BufferScan{
          false, std::move(logfile), 0, pointer_size, packed ? compression : Compression::none, {},
          {}};
    }
    if (!packed) break;
  }
  return std::nullopt;
}

std::optional<BufferScan> search_session(const core::ImageSource& source) {
  BufferFinder finder{source, 0, search_limit};
  u64 at = 0;
  for (unsigned i = 0; i < most_candidates; ++i, ++at) {
    at = finder.find_next(at);
    if (at >= std::min(finder.end(), search_limit)) break;
    const auto header = finder.find_at(at);
    if (!header) continue;
    if (header->type == BufferHeader::header_buffer)
      if (auto session = read_header_event(source, at)) return std::move(*session);
    if (auto session = infer_session(source, *header, at)) return session;
  }
  return std::nullopt;
}

// The first buffer is never compressed. Where its header does not say that the others are, which
// may be damage, the one behind it tells.
void check_compression(const core::ImageSource& source, BufferScan& session) {
  std::array<std::byte, header_size> bytes;
  if (session.compression != Compression::none || !source.read_at(0, bytes)) return;
  BufferFinder finder{source, 0};
  u64 next = std::min<u64>(load_buffer_header(bytes).size, finder.end());
  auto second = finder.find_at(next);
  if (!second && next < finder.end()) {
    next = finder.find_next(header_size);
    second = finder.find_at(next);
  }
  if (!second || (second->flags & BufferHeader::compressed) == 0) return;
  if (const auto packed = infer_session(source, *second, next))
    session.compression = packed->compression;
}

}  // namespace

core::Result<BufferScan> find_session(const core::ImageSource& source, core::Findings& findings) {
  auto first = read_first_buffer(source);
  if (first) check_compression(source, *first);
  if (first || source.size() < header_size) return first;
  auto session = read_header_event(source, 0);
  if (!session) {
    auto found = search_session(source);
    if (!found) return first;
    if (!found->has_header) found->header_error = session.error();
    session = std::move(*found);
  }
  check_compression(source, *session);
  if (session->has_header)
    findings.warning("trace-header", first.error());
  else
    findings.warning("trace-header", 0,
                     "the header of the session is lost: without its clock, events have only their "
                     "raw timestamps");
  return session;
}

}  // namespace coldtrace::tracefile
