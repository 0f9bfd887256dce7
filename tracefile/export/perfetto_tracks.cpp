#include "tracefile/export/perfetto_tracks.hpp"

namespace coldtrace::trace_export {

namespace field = perfetto;
using protozero::pbf_writer;

void add_argument(pbf_writer& event, std::string_view name, std::string_view value) {
  pbf_writer annotation{event, field::track_event::debug_annotations};
  annotation.add_string(field::track_event::debug_annotation::name, name.data(), name.size());
  annotation.add_string(field::track_event::debug_annotation::string_value, value.data(),
                        value.size());
}

void add_argument(pbf_writer& event, std::string_view name, const std::optional<u64>& value) {
  if (!value) return;
  pbf_writer annotation{event, field::track_event::debug_annotations};
  annotation.add_string(field::track_event::debug_annotation::name, name.data(), name.size());
  annotation.add_uint64(field::track_event::debug_annotation::uint_value, *value);
}

void end_slice(PerfettoPackets& packets, u64 track, i64 time) {
  packets.add([&](pbf_writer& packet) {
    packet.add_uint64(field::trace_packet::timestamp, static_cast<u64>(time));
    packet.add_uint32(field::trace_packet::trusted_packet_sequence_id, 1);
    pbf_writer event{packet, field::trace_packet::track_event};
    event.add_enum(field::track_event::type, field::track_event::slice_end);
    event.add_uint64(field::track_event::track_uuid, track);
  });
}

void count(PerfettoPackets& packets, u64 track, i64 time, i64 value) {
  packets.add([&](pbf_writer& packet) {
    packet.add_uint64(field::trace_packet::timestamp, static_cast<u64>(time));
    packet.add_uint32(field::trace_packet::trusted_packet_sequence_id, 1);
    pbf_writer event{packet, field::trace_packet::track_event};
    event.add_enum(field::track_event::type, field::track_event::counter);
    event.add_uint64(field::track_event::track_uuid, track);
    event.add_int64(field::track_event::counter_value, value);
  });
}

void describe_counter(PerfettoPackets& packets, u64 track, const std::string& name) {
  describe_track(packets, track, [&](pbf_writer& descriptor) {
    descriptor.add_string(field::track_descriptor::name, name);
    pbf_writer counter{descriptor, field::track_descriptor::counter};
    counter.add_enum(field::track_descriptor::counter_descriptor::unit,
                     static_cast<i32>(field::track_descriptor::counter_descriptor::count));
  });
}

}  // namespace coldtrace::trace_export
