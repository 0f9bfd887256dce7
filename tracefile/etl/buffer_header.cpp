#include "coldtrace/tracefile/etl/buffer_header.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u32 largest_buffer = BufferHeader::largest_buffer;
constexpr u16 processor_index_mask = 0x07ff;

}  // namespace

bool is_plausible(const BufferHeader& header) {
  return header.size >= BufferHeader::size_on_disk && header.size <= largest_buffer &&
         header.filled <= largest_buffer && header.type <= BufferHeader::last_type &&
         (header.flags & ~BufferHeader::known_flags) == 0;
}

BufferHeader load_buffer_header(core::ByteView bytes) {
  const auto fields = core::Fields<BufferHeader::size_on_disk>::at(bytes, 0);
  BufferHeader header{
      .size = fields->get<u32, 0x00>(),
      .saved = fields->get<u32, 0x04>(),
      .filled = fields->get<u32, 0x30>(),
      .timestamp = fields->get<i64, 0x10>(),
      .sequence = fields->get<i64, 0x18>(),
      .processor = fields->get<u16, 0x28>(),
      .logger_id = fields->get<u16, 0x2a>(),
      .state = fields->get<u32, 0x2c>(),
      .flags = fields->get<u16, 0x34>(),
      .type = fields->get<u16, 0x36>(),
  };
  // Before Windows 8 the second byte is the alignment.
  header.processor &=
      (header.flags & BufferHeader::processor_index) != 0 ? processor_index_mask : u16{0x00ff};
  return header;
}

core::Result<BufferHeader> read_buffer_header(core::ByteView bytes, u64 offset) {
  if (bytes.size() < BufferHeader::size_on_disk)
    return core::fail({Fault::truncated, offset, "WMI_BUFFER_HEADER", "BufferSize",
                       BufferHeader::size_on_disk, bytes.size()});
  const auto header = load_buffer_header(bytes);
  if (header.size < BufferHeader::size_on_disk)
    return core::fail({Fault::bad_value, offset, "WMI_BUFFER_HEADER", "BufferSize",
                       BufferHeader::size_on_disk, header.size});
  if (header.size > largest_buffer)
    return core::fail(
        {Fault::limit, offset, "WMI_BUFFER_HEADER", "BufferSize", largest_buffer, header.size});
  if (header.filled > largest_buffer)
    return core::fail({Fault::limit, offset + 0x30, "WMI_BUFFER_HEADER", "Offset", largest_buffer,
                       header.filled});
  if (!is_plausible(header))
    return core::fail({Fault::bad_value, offset + 0x34, "WMI_BUFFER_HEADER", "BufferFlag",
                       BufferHeader::known_flags, header.flags});
  return header;
}

}  // namespace coldtrace::tracefile
