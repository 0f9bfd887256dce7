#include "pe/types/record_stream.hpp"

namespace coldtrace::pe {

core::Result<RecordStream> RecordStream::read(const Msf& msf, u32 number, core::Name name) {
  RecordStream stream;
  stream.bytes = COLDTRACE_TRY(msf.read(number, name));
  const auto bytes = stream.bytes.view();
  const auto at = msf.offset_of(number, 0).value_or(0);
  core::Reader in{bytes, name, at};
  // Older ones have type indexes of 16 bits.
  constexpr u32 vc70 = 19'990'903;
  stream.version = in.read_u32("Version");
  if (stream.version < vc70)
    in.reject(core::Fault::unsupported, at, "Version", vc70, stream.version);
  stream.position = in.read_u32("HeaderSize");
  stream.first_index = in.read_u32("TypeIndexBegin");
  in.skip(4, "TypeIndexEnd");
  const auto record_bytes = in.read_u32("TypeRecordBytes");
  // A record takes four bytes or more: no index of one exceeds 32 bits.
  if (stream.first_index > ~u32{0} - record_bytes)
    in.reject(core::Fault::bad_value, at, "TypeIndexBegin", 0x1000, stream.first_index);
  const auto records = core::slice(bytes, stream.position, record_bytes);
  if (!records)
    in.reject(core::Fault::out_of_bounds, at, "TypeRecordBytes", bytes.size(), record_bytes);
  COLDTRACE_TRY(in.finish(core::Done{}));
  stream.records = *records;
  return stream;
}

std::optional<core::ByteView> find_record(core::ByteView records, u64 position) {
  const auto length = core::load<u16>(records, position);
  if (!length || *length < sizeof(u16)) return std::nullopt;
  return core::slice(records, position + sizeof(u16), *length);
}

}  // namespace coldtrace::pe
