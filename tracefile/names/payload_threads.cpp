#include "coldtrace/tracefile/names/payload_threads.hpp"

#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "tracefile/providers/kernel_events.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 unknown_id = 0xffffffff;

std::optional<u32> read_id(const Event& event, std::size_t offset, std::size_t size) {
  if (size == 0) return std::nullopt;
  const auto id = core::load<u32>(event.payload, offset);
  return id && *id != unknown_id ? std::optional{*id} : std::nullopt;
}

}  // namespace

PayloadThreads::Layout PayloadThreads::find_layout(const Event& event) {
  Layout layout{true, event.version, event.pointer_size, {}, {}};
  const auto kind = find_kernel_event(event);
  if (!kind || !kind->schema) return layout;
  std::size_t offset = 0;
  for (const auto& field : kind->schema->fields) {
    const auto size = fixed_size(field, event.pointer_size);
    if (size == 0) break;
    const Place place{static_cast<u16>(offset), static_cast<u8>(size)};
    if (field.out == OutType::own_process && layout.pid.size == 0) layout.pid = place;
    if (field.out == OutType::own_thread && layout.tid.size == 0) layout.tid = place;
    offset += size;
  }
  return layout;
}

void PayloadThreads::apply(Event& event, const NameTables& names) {
  if (event.pid || event.tid || !event.kernel_group) return;
  if (layouts_.empty()) layouts_.resize(std::size_t{1} << 16U);
  auto& layout = layouts_[std::size_t{*event.kernel_group} << 8U | event.opcode];
  if (!layout.known || layout.version != event.version || layout.pointer_size != event.pointer_size)
    layout = find_layout(event);
  event.tid = read_id(event, layout.tid.offset, layout.tid.size);
  event.pid = read_id(event, layout.pid.offset, layout.pid.size);
  if (event.tid && !event.pid) event.pid = names.find_process_of(*event.tid, event.name_time());
  if (event.tid || event.pid) event.thread_source = ThreadSource::payload;
}

}  // namespace coldtrace::tracefile
