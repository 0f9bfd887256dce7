#include "coldtrace/tracefile/names/value_names.hpp"

#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/names/status_names.hpp"

namespace coldtrace::tracefile {

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
