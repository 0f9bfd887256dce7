#include "coldtrace/ntfs/structures/file_record.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

using core::Fault;

core::Result<FileRecordHeader> read_file_record_header(core::ByteView record, u64 offset) {
  const auto fields = core::Fields<FileRecordHeader::size_on_disk>::at(record, 0);
  if (!fields)
    return core::fail({Fault::truncated, offset, "FILE", "header", FileRecordHeader::size_on_disk,
                       record.size()});
  const auto magic = fields->get<u32, 0>();
  if (magic != magic_file && magic != magic_bad)
    return core::fail({Fault::bad_magic, offset, "FILE", "Magic", magic_file, magic});
  const u16 flags = fields->get<u16, 0x16>();
  const u16 first = fields->get<u16, 0x14>();
  if (first < 0x28 || first % 2 != 0 || first > record.size())
    return core::fail({Fault::bad_value, offset + 0x14, "FILE", "FirstAttribute", 0x38, first});
  FileRecordHeader header{.bad = magic == magic_bad,
                          .sequence = fields->get<u16, 0x10>(),
                          .link_count = fields->get<u16, 0x12>(),
                          .first_attribute = first,
                          .in_use = (flags & 1) != 0,
                          .directory = (flags & 2) != 0,
                          .used_size = fields->get<u32, 0x18>(),
                          .allocated_size = fields->get<u32, 0x1c>(),
                          .base = to_file_reference(fields->get<u64, 0x20>()),
                          .number = std::nullopt};
  // The field exists where the fixup array does not start in its place.
  if (fields->get<u16, 4>() >= 0x30) header.number = fields->get<u32, 0x2c>();
  return header;
}

bool is_marked_bad(core::ByteView record) {
  return core::load<u32>(record, 0) == magic_bad;
}

bool is_unused_record(core::ByteView record) {
  return core::is_zero(record.first(std::min<std::size_t>(record.size(), 0x30)));
}

}  // namespace coldtrace::ntfs
