#include "pe/types/record_stream.hpp"

namespace coldtrace::pe {

core::Result<RecordStream> RecordStream::read(const Msf& msf, u32 number, core::Name name) {
  RecordStream stream;
  stream.bytes = COLDTRACE_TRY(msf.read(number, name));
  const auto bytes = stream.bytes.view();
  core::Reader in{bytes, name, 0};
  constexpr u32 vc40 = 19'950'410;
  constexpr u32 vc70 = 19'990'903;
  const u32 oldest = msf.is_version_2() ? vc40 : vc70;
  stream.version = in.read_u32("Version");
  if (stream.version < oldest)
    in.reject(core::Fault::unsupported, 0, "Version", oldest, stream.version);
  constexpr u64 size_of_narrow = 16;
  constexpr u64 size_of_interim = 20;
  u64 first_at = 0;
  if (stream.is_narrow()) {
    stream.position = size_of_narrow;
    first_at = in.offset();
    stream.first_index = in.read_u16("tiMin");
    in.skip(2, "tiMac");
  } else {
    stream.position = stream.version == vc50_interim ? size_of_interim : in.read_u32("HeaderSize");
    first_at = in.offset();
    stream.first_index = in.read_u32("TypeIndexBegin");
    in.skip(4, "TypeIndexEnd");
  }
  const auto size_at = in.offset();
  const auto record_bytes = in.read_u32("TypeRecordBytes");
  // A record takes four bytes or more: no index of one exceeds 32 bits.
  if (stream.first_index > ~u32{0} - record_bytes)
    in.reject(core::Fault::bad_value, first_at, "TypeIndexBegin", 0x1000, stream.first_index);
  const auto records = core::slice(bytes, stream.position, record_bytes);
  if (!records)
    in.reject(core::Fault::out_of_bounds, size_at, "TypeRecordBytes", bytes.size(), record_bytes);
  COLDTRACE_TRY(msf.placed(in.finish(core::Done{}), number));
  stream.records = *records;
  return stream;
}

std::optional<core::ByteView> find_record(core::ByteView records, u64 position) {
  const auto length = core::load<u16>(records, position);
  if (!length || *length < sizeof(u16)) return std::nullopt;
  return core::slice(records, position + sizeof(u16), *length);
}

}  // namespace coldtrace::pe
