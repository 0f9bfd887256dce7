#include "tracefile/providers/registered_providers.hpp"

#include <algorithm>
#include <functional>

namespace coldtrace::tracefile {
namespace {

struct Provider {
  std::string_view guid, name;
};

constexpr Provider providers[] = {
#define PROVIDER(guid, name) {guid, name},
#include "tracefile/providers/registered_provider_table.inc"
#undef PROVIDER
};
static_assert(std::ranges::adjacent_find(providers, std::ranges::greater_equal{},
                                         &Provider::guid) == std::end(providers),
              "ascending, and none twice");

}  // namespace

std::string_view find_registered_name(const core::Guid& provider) {
  const auto guid = core::to_string(provider);
  const auto* const found = std::ranges::lower_bound(providers, guid, {}, &Provider::guid);
  return found != std::end(providers) && found->guid == guid ? found->name : std::string_view{};
}

}  // namespace coldtrace::tracefile
