#include "coldtrace/tracefile/names/value_names.hpp"

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/names/status_names.hpp"

namespace coldtrace::tracefile {

// Thread events have ProcessId first since version 1. Source: Microsoft Learn, Thread_TypeGroup1.
NameScope name_scope_of(const Event& event) {
  constexpr u8 thread_group = 0x05;
  constexpr u8 start = 1, dc_end = 4;
  const bool is_life = event.kernel_group == thread_group && event.opcode >= start &&
                       event.opcode <= dc_end && event.version > 0;
  const auto own = is_life ? core::load<u32>(event.payload, 0) : std::nullopt;
  return {own ? own : event.pid, event.name_time()};
}

std::optional<std::string_view> find_value_name(const FieldSchema& field, const Value& value,
                                                const NameTables& names, const NameScope& scope,
                                                std::string& room) {
  room.clear();
  if (field.map) {
    room = find_mapped_names(*field.map, value);
    return room;
  }
  NameValidity validity{scope.time};
  switch (value.out) {
    case OutType::file_key:
      return names.find_file(value.number, scope.time).value_or(std::string_view{});
    case OutType::registry_key:
      return names.find_registry_key(value.number, scope.time).value_or(std::string_view{});
    case OutType::code_pointer:
      names.append_address(room, scope.pid, value.number, scope.time, NameTables::ImageForm::path,
                           validity);
      return room;
    case OutType::stack_frame:
      names.append_address(room, scope.pid, value.number, scope.time, NameTables::ImageForm::file,
                           validity);
      return room;
    default:
      if (!is_status(value.out)) return std::nullopt;
      room = find_status_name(value);
      return room;
  }
}

}  // namespace coldtrace::tracefile
