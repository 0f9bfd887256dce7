#include "tracefile/providers/kernel_values.hpp"

#include <algorithm>
#include <map>

namespace coldtrace::tracefile {
namespace {

struct Row {
  std::string_view map;  // empty: a value of the map above
  bool bits;
  std::string_view text;
  u64 value;
  u64 mask;
};

constexpr Row rows[] = {
#define KERNEL_VALUES(map) {map, false, {}, 0, 0},
#define KERNEL_BITS(map) {map, true, {}, 0, 0},
#define KERNEL_VALUE(value, text) {{}, false, text, value, 0},
#define KERNEL_PART(mask, value, text) {{}, false, text, value, mask},
#include "tracefile/providers/kernel_value_table.inc"
#undef KERNEL_VALUES
#undef KERNEL_BITS
#undef KERNEL_VALUE
#undef KERNEL_PART
};

using Maps = std::map<std::string_view, std::shared_ptr<const ValueMap>>;

Maps build_maps() {
  Maps maps;
  std::shared_ptr<ValueMap> last;
  for (const auto& row : rows) {
    if (!row.map.empty()) {
      last = std::make_shared<ValueMap>();
      last->name = row.map;
      last->bits = row.bits;
      maps.emplace(row.map, last);
    } else {
      last->entries.push_back({row.value, std::string{row.text}, row.mask});
    }
  }
  return maps;
}

}  // namespace

std::shared_ptr<const ValueMap> find_kernel_values(std::string_view map) {
  static const auto maps = build_maps();
  const auto found = maps.find(map);
  return found == maps.end() ? nullptr : found->second;
}

}  // namespace coldtrace::tracefile
