#include "coldtrace/core/error.hpp"

#include <system_error>

#include <fmt/format.h>

namespace coldtrace::core {

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::truncated:
      return "truncated";
    case Fault::out_of_bounds:
      return "out of bounds";
    case Fault::bad_magic:
      return "bad magic";
    case Fault::bad_value:
      return "bad value";
    case Fault::missing:
      return "missing";
    case Fault::loop:
      return "loop";
    case Fault::limit:
      return "over the limit";
    case Fault::unsupported:
      return "not supported";
    case Fault::io:
      return "cannot read";
  }
  return "unknown fault";
}

std::string to_string(const ParseError& error) {
  if (error.fault == Fault::missing)
    return fmt::format("{:#x}: {} has no {}", error.offset, error.structure.view(),
                       error.field.view());
  if (error.fault == Fault::io && error.structure.view() == "file") {
    const auto why = std::generic_category().message(static_cast<int>(error.found));
    if (error.offset == 0) return fmt::format("cannot read: {}", why);
    return fmt::format("{:#x}: cannot read: {}", error.offset, why);
  }
  if (error.fault == Fault::out_of_bounds && error.structure.view() == "image" &&
      error.field.view() == "range")
    return fmt::format("{:#x}: {} {} expected here, but the file has {}", error.offset,
                       error.expected, error.expected == 1 ? "byte" : "bytes", error.found);
  auto place = fmt::format("{:#x}: {}.{}: {}", error.offset, error.structure.view(),
                           error.field.view(), to_string(error.fault));
  if (error.fault == Fault::io)
    return fmt::format("{}: {}", place,
                       std::generic_category().message(static_cast<int>(error.found)));
  if (error.fault == Fault::truncated)
    return fmt::format("{}: {} {} needed, {} available", place, error.expected,
                       error.expected == 1 ? "byte" : "bytes", error.found);
  const bool tells_limit = error.fault == Fault::out_of_bounds || error.fault == Fault::limit;
  if (error.expected == error.found && !tells_limit) return place;
  if (error.expected == not_one_number) return fmt::format("{}: found {:#x}", place, error.found);
  return fmt::format("{}: expected {:#x}, found {:#x}", place, error.expected, error.found);
}

}  // namespace coldtrace::core
