#include "coldtrace/tracefile/providers/registered_providers.hpp"

#include <algorithm>
#include <functional>

namespace coldtrace::tracefile {
namespace {

struct Provider {
  std::string_view guid, name, files;
};

constexpr Provider providers[] = {
#define PROVIDER(guid, name, files) {guid, name, files},
#include "tracefile/providers/registered_provider_table.inc"
#undef PROVIDER
};
static_assert(std::ranges::adjacent_find(providers, std::ranges::greater_equal{},
                                         &Provider::guid) == std::end(providers),
              "ascending, and none twice");

const Provider* find(const core::Guid& provider) {
  const auto guid = core::to_string(provider);
  const auto* const found = std::ranges::lower_bound(providers, guid, {}, &Provider::guid);
  return found != std::end(providers) && found->guid == guid ? found : nullptr;
}

}  // namespace

std::string_view find_registered_name(const core::Guid& provider) {
  const auto* const known = find(provider);
  return known != nullptr ? known->name : std::string_view{};
}

std::vector<std::string_view> registered_names() {
  std::vector<std::string_view> names;
  for (const auto& provider : providers) names.push_back(provider.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string_view> find_registered_files(const core::Guid& provider) {
  std::vector<std::string_view> files;
  const auto* const known = find(provider);
  auto left = known != nullptr ? known->files : std::string_view{};
  while (!left.empty()) {
    const auto end = std::min(left.find(' '), left.size());
    files.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return files;
}

}  // namespace coldtrace::tracefile
