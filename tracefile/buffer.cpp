#include "tracefile/buffer.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

constexpr u32 header_size = BufferHeader::size_on_disk;

std::unique_ptr<std::byte[]> allocate(std::size_t size) {
  return std::unique_ptr<std::byte[]>{new std::byte[size]};  // not zeroed: it is filled
}

}  // namespace

std::shared_ptr<const Buffer> load_buffer(const core::ImageSource& source, const BufferEntry& entry,
                                          Compression compression) {
  auto buffer = std::make_shared<Buffer>();
  const u32 stored = entry.compressed() ? entry.size : std::min(entry.size, entry.filled);
  auto raw = allocate(stored);
  const auto read = source.read_at(entry.offset, {raw.get(), stored});
  if (!read) {
    buffer->damaged = true;
    buffer->error = read.error();
    return buffer;
  }
  if (!entry.compressed() || stored < header_size) {
    buffer->storage = std::move(raw);
    buffer->bytes = {buffer->storage.get(), stored};
    if (stored < entry.filled) {
      buffer->damaged = true;
      buffer->error = {core::Fault::truncated, entry.offset, "buffer", "Offset",
                       entry.filled,           stored};
    }
    return buffer;
  }
  const u32 plain = std::max(entry.filled, header_size);
  buffer->storage = allocate(plain);
  std::copy_n(raw.get(), header_size, buffer->storage.get());
  const auto result = decompress(compression, {raw.get() + header_size, stored - header_size},
                                 {buffer->storage.get() + header_size, plain - header_size},
                                 entry.offset + header_size);
  buffer->bytes = {buffer->storage.get(), header_size + result.size};
  if (result.damaged) {
    buffer->damaged = true;
    buffer->error = result.error;
  } else if (header_size + result.size < plain) {
    buffer->damaged = true;
    buffer->error = {core::Fault::truncated,   entry.offset, "buffer", "Offset", plain,
                     header_size + result.size};
  }
  return buffer;
}

}  // namespace coldtrace::tracefile
