#pragma once

#include <array>
#include <string_view>

#include "coldtrace/trace_analysis/records/records.hpp"
#include "tracefile/analysis/records/event_fields.hpp"

namespace coldtrace::trace_analysis {

// Which record an event becomes.
enum class RecordKind : u8 {
  context_switch,
  readied,
  priority_set,
  base_priority_set,
  priority_floor_set,
  starvation_boost,
  affinity_set,
  message_sent,
  message_received,
  reply_awaited,
  message_wait_end,
  collision,
  wait_begin,             // for one object
  wait_begin_of_several,  // for any or all
  wait_satisfied,         // logged by whoever runs then
  wait_end,               // logged by the thread itself, when it runs again
  call,
  call_return,
  vxd_call,
  vxd_return,
  vxd_service_name,
  interruption,
  sample,
  stack,      // its frames are in the event
  stack_key,  // they are said elsewhere
  process,
  thread,
  thread_name,
  disk_start,
  disk_end,
  file_start,
  file_end,
  tcp_sent,
  tcp_sent_again,
  tcp_received,
  udp_sent,
  udp_received,
  network_start,
  network_end,
};

// One event of one provider, and what its fields mean.
struct KnownEvent {
  static constexpr std::size_t most_fields = 8;

  std::string_view provider;
  std::string_view name;
  RecordKind record;
  Life life;              // of a process or thread
  Service::Kind service;  // of a call or interruption
  std::array<NamedField, most_fields> fields;
  std::optional<DiskAction> disk_action = std::nullopt;  // where its name says it
  std::optional<FileAction> file_action = std::nullopt;
};

// Null where no analysis asks for it.
const KnownEvent* find_known_event(std::string_view provider, std::string_view name);

}  // namespace coldtrace::trace_analysis
