#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracefile/export/perfetto_fields.hpp"
#include "tracefile/export/perfetto_packets.hpp"

namespace coldtrace::trace_export {

// What a track is of, in the highest byte of its number; the second lowest has the lane.
enum class Family : u64 { thread = 1, region, file, disk, disk_queue, busy, losses, interrupts };

constexpr u64 family(Family kind, u64 number) {
  return static_cast<u64>(kind) << 56U | number << 16U;
}

// An argument of a slice.
void add_argument(protozero::pbf_writer& event, std::string_view name, std::string_view value);
void add_argument(protozero::pbf_writer& event, std::string_view name,
                  const std::optional<u64>& value);

template <class AddArguments>
void begin_slice(PerfettoPackets& packets, u64 track, i64 time, const std::string& name,
                 AddArguments add_arguments) {
  const auto number = packets.intern(name);
  packets.add([&](protozero::pbf_writer& packet) {
    packet.add_uint64(perfetto::trace_packet::timestamp, static_cast<u64>(time));
    packet.add_uint32(perfetto::trace_packet::trusted_packet_sequence_id, 1);
    if (number != 0)
      packet.add_uint32(perfetto::trace_packet::sequence_flags,
                        perfetto::trace_packet::needs_incremental_state);
    protozero::pbf_writer event{packet, perfetto::trace_packet::track_event};
    event.add_enum(perfetto::track_event::type, perfetto::track_event::slice_begin);
    event.add_uint64(perfetto::track_event::track_uuid, track);
    if (number != 0)
      event.add_uint64(perfetto::track_event::name_iid, number);
    else
      event.add_string(perfetto::track_event::name, name);
    add_arguments(event);
  });
}

void end_slice(PerfettoPackets& packets, u64 track, i64 time);

// A value of a counter.
void count(PerfettoPackets& packets, u64 track, i64 time, i64 value);

template <class AddMore>
void describe_track(PerfettoPackets& packets, u64 track, AddMore add_more) {
  packets.add([&](protozero::pbf_writer& packet) {
    packet.add_uint64(perfetto::trace_packet::timestamp, 0);
    packet.add_uint32(perfetto::trace_packet::trusted_packet_sequence_id, 1);
    protozero::pbf_writer descriptor{packet, perfetto::trace_packet::track_descriptor};
    descriptor.add_uint64(perfetto::track_descriptor::uuid, track);
    add_more(descriptor);
  });
}

void describe_counter(PerfettoPackets& packets, u64 track, const std::string& name);

}  // namespace coldtrace::trace_export
