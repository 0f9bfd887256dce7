#include "coldtrace/tracefile/ctrace/ctrace_buffer.hpp"

#include "coldtrace/core/crc32c.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u64 magic = 0x5245'4646'5542'5443;  // "CTBUFFER"
constexpr u32 entry_header = 16;
constexpr u32 reserved = 1;
constexpr u32 committed = 2;

}  // namespace

core::Result<CtraceBufferHeader> read_ctrace_buffer_header(core::ByteView bytes, u64 offset) {
  core::Reader in{bytes, "ctrace buffer", offset};
  in.expect(magic, "Magic");
  CtraceBufferHeader header{};
  header.crc = in.read_u32("Crc");
  header.length = in.read_u32("Length");
  if (header.length > CtraceBufferHeader::largest_length || header.length % 8 != 0)
    in.reject(core::Fault::bad_value, offset + 12, "Length", CtraceBufferHeader::largest_length,
              header.length);
  header.processor = in.read_u16("Processor");
  const auto kind = in.read_u8("Kind");
  if (kind > static_cast<u8>(CtraceBufferHeader::Kind::end))
    in.reject(core::Fault::bad_value, offset + 18, "Kind", 1, kind);
  header.kind = static_cast<CtraceBufferHeader::Kind>(kind);
  in.skip(1, "zero");
  header.sequence = in.read_u32("Sequence");
  header.lost = in.read_u32("Lost");
  header.flags = in.read_u32("Flags");
  header.cycles = in.read_u64("Cycles");
  header.file_time = in.read_u64("FileTime");
  in.skip(16, "zero");
  return in.finish(header);
}

u32 ctrace_buffer_crc(core::ByteView buffer) {
  constexpr std::array<std::byte, 4> zero{};
  const auto before = core::crc32c(buffer.first(CtraceBufferHeader::crc_offset));
  return core::crc32c(core::crc32c(before, zero),
                      buffer.subspan(CtraceBufferHeader::crc_offset + zero.size()));
}

u32 CtraceEntries::size_at(u32 offset) const {
  const auto in = core::Fields<entry_header>::at(buffer_, offset);
  if (!in) return 0;
  const u32 state = in->get<u8, 11>();
  const u32 length = in->get<u32, 12>();
  if ((state & 0x3fU) != (sequence_ & 0x3fU)) return 0;
  if (state >> 6 != reserved && state >> 6 != committed) return 0;
  if (length > 0xffff) return 0;
  const u32 size = entry_header + (length + 7) / 8 * 8;
  return size <= buffer_.size() - offset ? size : 0;
}

// From the end backwards: whether entries lead from each place to the end.
u32 CtraceEntries::find_next(u32 offset) const {
  const auto end = static_cast<u32>(buffer_.size());
  std::vector<bool> leads((end - offset) / 8 + 1);
  leads[(end - offset) / 8] = true;
  u32 first = end;
  for (u32 at = end - 8; at > offset; at -= 8) {
    const auto size = size_at(at);
    if (size == 0 || !leads[(at + size - offset) / 8]) continue;
    leads[(at - offset) / 8] = true;
    first = at;
  }
  return first;
}

CtraceEntries::Item CtraceEntries::next() {
  if (at_ >= buffer_.size()) return Item::end;
  const auto size = size_at(at_);
  if (size == 0) {
    torn_offset_ = at_;
    at_ = find_next(at_);
    torn_length_ = at_ - torn_offset_;
    return Item::torn;
  }
  const auto in = *core::Fields<entry_header>::at(buffer_, at_);
  entry_ = {in.get<u64, 0>(),
            in.get<u16, 8>(),
            in.get<u8, 10>(),
            in.get<u8, 11>() >> 6 == committed,
            at_,
            buffer_.subspan(at_ + entry_header, in.get<u32, 12>())};
  at_ += size;
  return Item::entry;
}

}  // namespace coldtrace::tracefile
