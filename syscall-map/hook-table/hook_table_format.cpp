#include "syscall-map/hook-table/hook_table_format.hpp"

#include <algorithm>

#include "coldtrace/syscall-map/stubs/name_hash.hpp"

namespace coldtrace::syscall_map::hook_table_format {

std::vector<NameIndexEntry> make_name_index(const std::vector<HookService>& services) {
  std::vector<NameIndexEntry> entries;
  for (u32 i = 0; i < services.size(); ++i) {
    const auto& service = services[i];
    for (const auto& name : service.names)
      entries.push_back({hash_name(hashed_name(name)), i, name});
    if (service.names.empty() && service.name_hash)
      entries.push_back({*service.name_hash, i, std::nullopt});
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace coldtrace::syscall_map::hook_table_format
