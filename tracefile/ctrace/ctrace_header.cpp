#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u64 magic = 0x1a43'5254'444c'4f43;  // "COLDTRC", 0x1a
constexpr u32 largest_header = 4 << 20;
constexpr std::size_t crc_offset = 16;
constexpr u64 most_frequency = 1'000'000'000'000;

std::string read_name(core::Reader& in, core::Name field) {
  const auto chars = core::to_chars(in.take(40, field));
  return core::to_valid_utf8(chars.substr(0, chars.find('\0')));
}

core::Guid read_guid(core::Reader& in, core::Name field) {
  return core::to_guid(in.take(16, field));
}

TracedImage read_image(core::ByteView bytes, u64 offset) {
  core::Reader in{bytes, "image identity", offset};
  TracedImage image;
  image.machine = in.read_u16("Machine");
  in.skip(2, "zero");
  image.time_date_stamp = in.read_u32("TimeDateStamp");
  image.size_of_image = in.read_u32("SizeOfImage");
  image.checksum = in.read_u32("CheckSum");
  for (auto& part : image.file_version) part = in.read_u16("FileVersion");
  image.pdb_age = in.read_u32("PdbAge");
  in.skip(4, "zero");
  image.pdb_guid = read_guid(in, "PdbGuid");
  image.name = read_name(in, "Name");
  image.pdb_name = read_name(in, "PdbName");
  return image;
}

}  // namespace

bool is_ctrace(const core::ImageSource& source) {
  std::array<std::byte, 8> bytes;
  return source.size() >= bytes.size() && source.read_at(0, bytes) &&
         *core::load<u64>(bytes, 0) == magic;
}

std::optional<core::ParseError> find_damaged_ctrace_magic(const core::ImageSource& source) {
  std::vector<std::byte> bytes(std::min<u64>(source.size(), largest_header));
  if (bytes.size() < CtraceHeader::size_on_disk || !source.read_at(0, bytes)) return std::nullopt;
  const core::ParseError error{Fault::bad_magic, 0,     "ctrace header",
                               "Magic",          magic, *core::load<u64>(bytes, 0)};
  std::memcpy(bytes.data(), &magic, sizeof(magic));
  const auto header = read_ctrace_header(core::MemoryImage{bytes});
  // The damage may go on, in the schema or in names.
  if (header || header.error().field == "Crc") return error;
  return std::nullopt;
}

core::Result<CtraceHeader> read_ctrace_header(const core::ImageSource& source) {
  std::vector<std::byte> bytes(CtraceHeader::size_on_disk);
  if (source.size() < bytes.size())
    return core::fail(
        {Fault::truncated, 0, "ctrace header", "HeaderSize", bytes.size(), source.size()});
  COLDTRACE_TRY(source.read_at(0, bytes));
  core::Reader in{bytes, "ctrace header", 0};
  in.expect(magic, "Magic");
  in.expect(u16{1}, "MajorVersion", Fault::unsupported);
  CtraceHeader header{};
  header.minor_version = in.read_u16("MinorVersion");
  header.size = in.read_u32("HeaderSize");
  if (header.size < bytes.size() || header.size % 8 != 0)
    in.reject(Fault::bad_value, 12, "HeaderSize", bytes.size(), header.size);
  if (header.size > largest_header)
    in.reject(Fault::limit, 12, "HeaderSize", largest_header, header.size);
  const auto crc = in.read_u32("Crc");
  header.flags = in.read_u32("Flags");
  header.pointer_size = in.read_u8("PointerSize");
  if (header.pointer_size != 4 && header.pointer_size != 8)
    in.reject(Fault::bad_value, 24, "PointerSize", 8, header.pointer_size);
  const auto clock = in.read_u8("Clock");
  if (clock != static_cast<u8>(ClockType::performance_counter) &&
      clock != static_cast<u8>(ClockType::cpu_cycles))
    in.reject(Fault::bad_value, 25, "Clock", static_cast<u8>(ClockType::cpu_cycles), clock);
  header.clock = static_cast<ClockType>(clock);
  in.skip(2, "zero");
  header.processors = in.read_u32("Processors");
  header.frequency = in.read_u64("Frequency");
  if (header.frequency == 0 || header.frequency > most_frequency)
    in.reject(Fault::bad_value, 32, "Frequency", most_frequency, header.frequency);
  header.start_time = {in.read_u64("StartTime")};
  header.boot_time = {in.read_u64("BootTime")};
  header.session = read_guid(in, "Session");
  header.boot_id = in.read_u32("BootId");
  header.time_resolution = in.read_u32("TimeResolution");
  for (auto& part : header.windows_version) part = in.read_u32("WindowsVersion");
  const auto schema_length = in.read_u32("SchemaLength");
  if (schema_length > header.size - CtraceHeader::size_on_disk)
    in.reject(Fault::out_of_bounds, 92, "SchemaLength", header.size, schema_length);
  if (!in.ok()) return core::fail(in.error());
  header.kernel = read_image(*core::slice(bytes, 128, TracedImage::size_on_disk), 128);
  header.ntdll = read_image(*core::slice(bytes, 256, TracedImage::size_on_disk), 256);

  if (header.size > source.size())
    return core::fail(
        {Fault::truncated, 0, "ctrace header", "HeaderSize", header.size, source.size()});
  bytes.resize(header.size);
  COLDTRACE_TRY(source.read_at(0, bytes));
  for (std::size_t i = 0; i < 4; ++i) bytes[crc_offset + i] = std::byte{0};
  if (const auto computed = core::crc32c(bytes); computed != crc)
    return core::fail({Fault::bad_value, crc_offset, "ctrace header", "Crc", computed, crc});
  header.schema_text =
      core::to_chars(*core::slice(bytes, CtraceHeader::size_on_disk, schema_length));
  return header;
}

}  // namespace coldtrace::tracefile
