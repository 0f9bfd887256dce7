#include "coldtrace/trace_analysis/function_names.hpp"

#include <fmt/format.h>

namespace coldtrace::trace_analysis {

std::string_view to_string(NameSource source) {
  switch (source) {
    case NameSource::pdb:
      return "pdb";
    case NameSource::exports:
      return "exports";
    case NameSource::none:
      break;
  }
  return "none";
}

std::string FunctionName::label() const {
  if (!known()) return {};
  return function.empty() ? fmt::format("{}+{:#x}", module, module_offset)
                          : fmt::format("{}!{}", module, function);
}

std::string FunctionName::place() const {
  return function.empty() || offset == 0 ? function : fmt::format("{}+{:#x}", function, offset);
}

std::string FunctionName::text() const {
  return function.empty() ? label() : fmt::format("{}!{}", module, place());
}

FunctionName ImageOffsets::find(std::optional<u32> pid, u64 address, i64 time) {
  const auto image = names_.find_image(pid, address, time);
  if (!image) return {};
  return {std::string{image->name.substr(image->name.rfind('\\') + 1)}, address - image->base};
}

}  // namespace coldtrace::trace_analysis
