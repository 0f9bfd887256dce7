#include "coldtrace/tracefile/names/value_names.hpp"

#include <iterator>

#include <fmt/compile.h>

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
  switch (value.out) {
    case OutType::file_key:
      return names.find_file(value.number, scope.time).value_or(std::string_view{});
    case OutType::registry_key:
      return names.find_registry_key(value.number, scope.time).value_or(std::string_view{});
    case OutType::code_pointer:
      if (const auto method = names.find_method(scope.pid, value.number, scope.time)) {
        NameTables::append_place(room, *method, value.number);
      } else if (const auto image = names.find_image(scope.pid, value.number, scope.time)) {
        room = image->name;
        fmt::format_to(std::back_inserter(room), FMT_COMPILE("+{:#x}"), value.number - image->base);
      }
      return room;
    case OutType::stack_frame:
      names.append_address(room, scope.pid, value.number, scope.time);
      return room;
    default:
      if (!is_status(value.out)) return std::nullopt;
      room = find_status_name(value);
      return room;
  }
}

}  // namespace coldtrace::tracefile
