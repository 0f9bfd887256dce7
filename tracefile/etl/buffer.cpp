#include "coldtrace/tracefile/etl/buffer.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

constexpr u32 header_size = BufferHeader::size_on_disk;

// Sets what is known of the buffer when `stored` bytes of it lie in `raw`, and `plain(size)` gives
// memory for what they unpack to.
template <class Plain>
void read_into(Buffer& buffer, const core::ImageSource& source, const BufferEntry& entry,
               Compression compression, std::span<std::byte> raw, Plain&& plain) {
  const auto stored = static_cast<u32>(raw.size());
  const auto damaged = [&](const core::ParseError& error) {
    buffer.damaged = true;
    buffer.error = error;
  };
  const auto cut = [&](u64 expected, u64 found) {
    damaged({core::Fault::truncated, entry.offset, "buffer", "Offset", expected, found});
  };
  if (const auto read = source.read_at(entry.offset, raw); !read) return damaged(read.error());
  if (!entry.compressed() || stored < header_size) {
    buffer.bytes = raw;
    if (stored < entry.filled) cut(entry.filled, stored);
    return;
  }
  const u32 size = std::max(entry.filled, header_size);
  std::byte* const out = plain(size);
  std::copy_n(raw.data(), header_size, out);
  const auto result =
      decompress(compression, raw.subspan(header_size), {out + header_size, size - header_size},
                 entry.offset + header_size);
  buffer.bytes = {out, header_size + result.size};
  if (result.damaged)
    damaged(result.error);
  else if (buffer.bytes.size() < size)
    cut(size, buffer.bytes.size());
}

u32 stored_size(const BufferEntry& entry) {
  return entry.compressed() ? entry.size : std::min(entry.size, entry.filled);
}

}  // namespace

BufferEntry to_entry(const BufferHeader& header, u64 offset, u32 size) {
  return {.offset = offset,
          .first_time = 0,
          .last_time = 0,
          .sequence = header.sequence,
          .flush_time = header.timestamp,
          .size = size,
          .filled = header.filled,
          .events = 0,
          .processor = header.processor,
          .flags = header.flags,
          .logger_id = header.logger_id,
          .type = static_cast<u8>(header.type)};
}

const Buffer& BufferLoader::load(const core::ImageSource& source, const BufferEntry& entry,
                                 Compression compression) {
  buffer_ = Buffer{};
  const auto size = stored_size(entry);
  read_into(buffer_, source, entry, compression, {stored_.get(size), size},
            [&](std::size_t plain) { return plain_.get(plain); });
  return buffer_;
}

std::shared_ptr<const Buffer> load_buffer(const core::ImageSource& source, const BufferEntry& entry,
                                          Compression compression) {
  auto buffer = std::make_shared<Buffer>();
  const auto size = stored_size(entry);
  Scratch stored;
  const std::span raw{stored.get(size), size};
  read_into(*buffer, source, entry, compression, raw,
            [&](std::size_t plain) { return buffer->storage.get(plain); });
  if (buffer->bytes.data() == raw.data()) buffer->storage = std::move(stored);
  return buffer;
}

}  // namespace coldtrace::tracefile
