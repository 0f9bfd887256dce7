#include "tracefile/messages/ndis_codes.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace coldtrace::tracefile {
namespace {

struct Row {
  u32 value;
  std::string_view name;
};

constexpr Row statuses[] = {
#define NDIS_STATUS(value, name) {value, name},
#define NDIS_OID(value, name)
#include "tracefile/messages/ndis_code_table.inc"
#undef NDIS_STATUS
#undef NDIS_OID
};

constexpr Row oids[] = {
#define NDIS_STATUS(value, name)
#define NDIS_OID(value, name) {value, name},
#include "tracefile/messages/ndis_code_table.inc"
#undef NDIS_STATUS
#undef NDIS_OID
};

constexpr bool is_ascending(std::span<const Row> rows) {
  return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &Row::value) == rows.end();
}
static_assert(is_ascending(statuses) && is_ascending(oids));

std::string_view find_in(std::span<const Row> rows, u32 value) {
  const auto found = std::ranges::lower_bound(rows, value, {}, &Row::value);
  return found != rows.end() && found->value == value ? found->name : std::string_view{};
}

}  // namespace

std::string_view find_ndis_status(u32 status) {
  return find_in(statuses, status);
}

std::string_view find_ndis_oid(u32 oid) {
  return find_in(oids, oid);
}

}  // namespace coldtrace::tracefile
