#include "coldtrace/trace_analysis/records/function_names.hpp"

#include <fmt/format.h>

namespace coldtrace::trace_analysis {

std::string_view to_string(NameSource source) {
  switch (source) {
    case NameSource::pdb:
      return "pdb";
    case NameSource::exports:
      return "exports";
    case NameSource::method:
      return "method";
    case NameSource::entry_point:
      return "entry_point";
    case NameSource::none:
      break;
  }
  return "none";
}

std::string FunctionName::label() const {
  if (!known()) return {};
  if (function.empty()) return fmt::format("{}+{:#x}", module, module_offset);
  return module.empty() ? function : fmt::format("{}!{}", module, function);
}

std::string FunctionName::place() const {
  return function.empty() || offset == 0 ? function : fmt::format("{}+{:#x}", function, offset);
}

std::string FunctionName::text() const {
  if (function.empty()) return label();
  return module.empty() ? place() : fmt::format("{}!{}", module, place());
}

FunctionName ImageOffsets::find(std::optional<u32> pid, u64 address, i64 time) {
  if (const auto method = names_.find_method(pid, address, time)) {
    const auto image =
        method->is_entry_point ? names_.find_image(pid, address, time) : std::nullopt;
    return {.module = std::string{method->module.substr(method->module.rfind('\\') + 1)},
            .module_offset = image ? address - image->base : 0,
            .function = std::string{method->name},
            .offset = address - method->start,
            .source = method->is_entry_point ? NameSource::entry_point : NameSource::method,
            .tier = tracefile::method_tier(method->flags),
            .is_cold = tracefile::is_cold_part(method->flags)};
  }
  const auto image = names_.find_image(pid, address, time);
  if (!image) return {};
  return {std::string{image->name.substr(image->name.rfind('\\') + 1)}, address - image->base};
}

}  // namespace coldtrace::trace_analysis
