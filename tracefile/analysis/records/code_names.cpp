#include "coldtrace/trace_analysis/records/code_names.hpp"

#include <fmt/format.h>

namespace coldtrace::trace_analysis {

u32 CodeNames::module_number(std::string_view name) {
  const auto [place, added] = module_numbers_.try_emplace(name, static_cast<u32>(modules_.size()));
  if (added) modules_.push_back(name);
  return place->second;
}

CodeNames::Code CodeNames::find(std::optional<u32> pid, u64 address, i64 time) {
  const auto method = images_.find_method(pid, address, time);
  const auto image = method ? std::nullopt : images_.find_image(pid, address, time);
  const auto place = method  ? ImagePlace{of_method, method->number}
                     : image ? ImagePlace{image->file, address - image->base}
                             : ImagePlace{no_file, address};
  if (const auto known = known_.find(place); known != known_.end()) return known->second;
  const auto path = method ? method->module : image ? image->name : std::string_view{};
  const auto module = method || image ? module_number(path) : no_module;
  if (known_.size() == most_functions) {
    ++left_out_;
    return {module, other_functions};
  }
  auto name = method || image ? names_.find(pid, address, time).label() : std::string{};
  if (name.empty()) name = fmt::format("{:#x}", address);
  const Code code{module, number_of(name, module)};
  known_.emplace(place, code);
  return code;
}

// Files of one name in two folders are two modules, and the functions in them others.
u32 CodeNames::number_of(const std::string& name, u32 module) {
  const auto [place, added] = by_name_.try_emplace(fmt::format("{:x} {}", module, name),
                                                   static_cast<u32>(functions_.size()));
  if (added)
    functions_.push_back(
        {std::string_view{place->first}.substr(place->first.find(' ') + 1), module});
  return place->second;
}

}  // namespace coldtrace::trace_analysis
