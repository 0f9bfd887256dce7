#include "tracefile/export/perfetto_packets.hpp"

#include <zlib.h>

#include "tracefile/export/perfetto_fields.hpp"

namespace coldtrace::trace_export {

namespace field = perfetto;

namespace {

Bytef* zlib_pointer(char* bytes) {
  return static_cast<Bytef*>(static_cast<void*>(bytes));
}

}  // namespace

u64 PerfettoPackets::intern(const std::string& name) {
  const auto known = names_.find(name);
  if (known != names_.end()) return known->second;
  if (names_.size() == most_names) return 0;
  const u64 number = names_.size() + 1;
  names_.emplace(name, number);
  add([&](protozero::pbf_writer& packet) {
    packet.add_uint32(field::trace_packet::trusted_packet_sequence_id, 1);
    packet.add_uint32(field::trace_packet::sequence_flags,
                      number == 1 ? field::trace_packet::incremental_state_cleared
                                  : field::trace_packet::needs_incremental_state);
    protozero::pbf_writer data{packet, field::trace_packet::interned_data};
    protozero::pbf_writer entry{data, field::interned_data::event_names};
    entry.add_uint64(field::interned_data::iid, number);
    entry.add_string(field::interned_data::name, name);
  });
  return number;
}

void PerfettoPackets::put() {
  framed_.clear();
  protozero::pbf_writer{framed_}.add_message(field::trace::packet, packet_);
  if (!compress_) {
    write_(framed_);
    return;
  }
  group_ += framed_;
  if (group_.size() >= group_size) compress();
}

void PerfettoPackets::compress() {
  if (group_.empty()) return;
  auto size = compressBound(group_.size());
  std::string bytes(size, '\0');
  // The room is what zlib asks for: it fails for want of memory alone.
  if (::compress2(zlib_pointer(bytes.data()), &size, zlib_pointer(group_.data()), group_.size(),
                  Z_DEFAULT_COMPRESSION) != Z_OK) {
    write_(group_);
    group_.clear();
    return;
  }
  bytes.resize(size);
  packet_.clear();
  protozero::pbf_writer{packet_}.add_bytes(field::trace_packet::compressed_packets, bytes);
  framed_.clear();
  protozero::pbf_writer{framed_}.add_message(field::trace::packet, packet_);
  write_(framed_);
  group_.clear();
}

void PerfettoPackets::finish() {
  if (compress_) compress();
}

}  // namespace coldtrace::trace_export
