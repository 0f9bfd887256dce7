#include "coldtrace/ntfs/journal/usn_record.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using core::Reader;

constexpr core::Name structure = "USN record";
constexpr u64 longest_name = 510;

FileReference read_reference(Reader& reader, core::Name field) {
  return to_file_reference(reader.read_u64(field));
}

// Name lengths are those of a name's bytes; a record ends where its name does, rounded up to 8.
void read_name(Reader& reader, core::ByteView bytes, UsnRecord& record) {
  const u64 length_at = reader.offset();
  const u16 length = reader.read_u16("FileNameLength");
  const u64 offset_at = reader.offset();
  const u16 offset = reader.read_u16("FileNameOffset");
  const u64 fixed = reader.consumed();
  if (length == 0 || length > longest_name || length % 2 != 0)
    reader.reject(Fault::bad_value, length_at, "FileNameLength", longest_name, length);
  if (offset != fixed) reader.reject(Fault::bad_value, offset_at, "FileNameOffset", fixed, offset);
  const auto name = core::slice(bytes, offset, length);
  if (!name || (u64{offset} + length + 7) / 8 * 8 != record.length)
    reader.reject(Fault::bad_value, length_at, "FileNameLength", record.length, length);
  record.name = to_stored_text(name.value_or(core::ByteView{}));
}

void read_named(Reader& reader, core::ByteView bytes, UsnRecord& record) {
  record.usn = reader.read_u64("Usn");
  if (const core::FileTime time{reader.read_u64("TimeStamp")}; time.ticks != 0) record.time = time;
  record.reasons = reader.read_u32("Reason");
  record.sources = reader.read_u32("SourceInfo");
  record.security_id = reader.read_u32("SecurityId");
  record.attributes = reader.read_u32("FileAttributes");
  read_name(reader, bytes, record);
}

void read_extents(Reader& reader, UsnRecord& record) {
  record.usn = reader.read_u64("Usn");
  record.reasons = reader.read_u32("Reason");
  record.sources = reader.read_u32("SourceInfo");
  record.extents_left = reader.read_u32("RemainingExtents");
  const u16 count = reader.read_u16("NumberOfExtents");
  const u64 size_at = reader.offset();
  const u16 size = reader.read_u16("ExtentSize");
  if (size != sizeof(UsnExtent))
    reader.reject(Fault::bad_value, size_at, "ExtentSize", sizeof(UsnExtent), size);
  record.extents = reader.take(u64{count} * sizeof(UsnExtent), "Extents");
  if (reader.ok() && reader.remaining() >= 8)
    reader.reject(Fault::bad_value, size_at, "NumberOfExtents", record.length, reader.consumed());
}

}  // namespace

UsnExtent UsnRecord::extent(u64 index) const {
  const auto at = index * sizeof(UsnExtent);
  return {core::load<u64>(extents, at).value_or(0), core::load<u64>(extents, at + 8).value_or(0)};
}

core::Result<UsnRecord> read_usn_record(core::ByteView bytes, u64 offset) {
  UsnRecord record{};
  const auto stated = core::load<u32>(bytes, 0).value_or(0);
  const auto whole = core::slice(bytes, 0, std::max(stated, UsnRecord::smallest));
  if (!whole || stated % 8 != 0)
    return core::fail({Fault::bad_value, offset, structure, "RecordLength", bytes.size(), stated});
  Reader reader{*whole, structure, offset};
  record.length = reader.read_u32("RecordLength");
  record.major = reader.read_u16("MajorVersion");
  record.minor = reader.read_u16("MinorVersion");
  if (record.major < 2 || record.major > 4 || record.minor != 0)
    reader.reject(Fault::unsupported, offset + 4, "MajorVersion", 4, record.major);
  record.file = read_reference(reader, "FileReferenceNumber");
  if (record.major > 2) record.file_high = reader.read_u64("FileReferenceNumber");
  record.parent = read_reference(reader, "ParentFileReferenceNumber");
  if (record.major > 2) record.parent_high = reader.read_u64("ParentFileReferenceNumber");
  if (record.major == 4)
    read_extents(reader, record);
  else
    read_named(reader, *whole, record);
  if (record.usn % 8 != 0 || record.usn > ~u64{0} >> 1)
    reader.reject(Fault::bad_value, offset, "Usn", core::not_one_number, record.usn);
  return reader.finish(record);
}

}  // namespace coldtrace::ntfs
