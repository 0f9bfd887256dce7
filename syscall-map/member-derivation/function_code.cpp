#include "syscall-map/member-derivation/function_code.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {

std::optional<std::size_t> FunctionCode::find(pe::Rva rva) const {
  const auto at = std::lower_bound(
      operations.begin(), operations.end(), rva,
      [](const Operation& operation, pe::Rva sought) { return operation.rva < sought; });
  if (at == operations.end() || at->rva != rva) return std::nullopt;
  return static_cast<std::size_t>(at - operations.begin());
}

FunctionStore::FunctionStore(const pe::ImageTables& tables)
    : tables_{tables}, reader_{tables.image()} {
  for (const auto& [name, rva] : tables.export_places()) starts_.push_back(rva);
  std::sort(starts_.begin(), starts_.end());
}

pe::Rva FunctionStore::bound_of(pe::Rva entry) const {
  auto bound = entry + FunctionCode::farthest;
  const auto exported = std::upper_bound(starts_.begin(), starts_.end(), entry);
  if (exported != starts_.end()) bound = std::min(bound, *exported);
  const auto& functions = tables_.functions();
  const auto next = std::upper_bound(
      functions.begin(), functions.end(), entry,
      [](pe::Rva rva, const pe::FunctionRange& range) { return rva < range.start; });
  if (next != functions.begin() && entry < std::prev(next)->end)
    bound = std::min(bound, std::prev(next)->end);
  else if (next != functions.end())
    bound = std::min(bound, next->start);
  return bound;
}

const FunctionCode& FunctionStore::at(pe::Rva entry) const {
  const auto [place, fresh] = functions_.try_emplace(entry);
  auto& function = place->second;
  if (!fresh) return function;
  const auto bound = bound_of(entry);
  std::map<pe::Rva, Operation> found;
  std::vector<pe::Rva> waiting{entry};
  while (!waiting.empty()) {
    auto at = waiting.back();
    waiting.pop_back();
    while (found.size() < FunctionCode::most_operations && at >= entry && at < bound &&
           !found.contains(at)) {
      const auto operation = reader_.read(at);
      if (!operation) break;
      found.emplace(at, *operation);
      using Flow = Operation::Flow;
      if (operation->flow == Flow::end) function.popped = operation->popped;
      if (operation->target &&
          (operation->flow == Flow::conditional || operation->flow == Flow::jump))
        waiting.push_back(*operation->target);
      if (operation->flow == Flow::end || operation->flow == Flow::jump) break;
      at = operation->end();
    }
  }
  function.operations.reserve(found.size());
  for (const auto& [rva, operation] : found) function.operations.push_back(operation);
  return function;
}

}  // namespace coldtrace::syscall_map
