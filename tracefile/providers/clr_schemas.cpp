#include "tracefile/providers/clr_schemas.hpp"

#include <algorithm>

#include "tracefile/providers/event_table.hpp"

namespace coldtrace::tracefile {
namespace {

using Row = EventTableRow;

constexpr Row rows[] = {
#define CLR_PROVIDER(name, guid) {Row::Kind::provider, 0, name, guid},
#define CLR_VALUES(name, names) {Row::Kind::values, 0, name, names},
#define CLR_BITS(name, names) {Row::Kind::bits, 0, name, names},
#define CLR_KEYWORDS(names) {Row::Kind::keywords, 0, {}, names},
#define CLR_TASK(number, name, opcodes) {Row::Kind::task, number, name, opcodes},
#define CLR_EVENT(events) {Row::Kind::event, 0, {}, events},
#define CLR_FIELDS(version, layout) {Row::Kind::fields, version, {}, layout},
#include "tracefile/providers/clr_event_table.inc"
#undef CLR_PROVIDER
#undef CLR_VALUES
#undef CLR_BITS
#undef CLR_KEYWORDS
#undef CLR_TASK
#undef CLR_EVENT
#undef CLR_FIELDS
};

constexpr auto providers = [] {
  std::array<core::Guid,
             std::count_if(std::begin(rows), std::end(rows),
                           [](const Row& row) { return row.kind == Row::Kind::provider; })>
      found{};
  std::size_t at = 0;
  for (const auto& row : rows)
    if (row.kind == Row::Kind::provider) found[at++] = *core::parse_guid(row.text);
  return found;
}();

class ClrSchemas final : public SchemaSource {
 public:
  explicit ClrSchemas(ClrVersions versions) : versions_{versions} {}

  std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override {
    if (key.classic || !is_clr(key.provider)) return nullptr;
    auto schema = table().find(key);
    for (auto earlier = key; !schema && versions_ == ClrVersions::nearest && earlier.version > 0;) {
      --earlier.version;
      schema = table().find(earlier);
    }
    return schema;
  }

  std::string_view find_provider_name(const core::Guid& provider) const override {
    return is_clr(provider) ? table().find_provider_name(provider) : std::string_view{};
  }

  std::shared_ptr<const ProviderNames> find_names(const core::Guid& provider) const override {
    return is_clr(provider) ? table().find_names(provider) : nullptr;
  }

 private:
  static bool is_clr(const core::Guid& provider) {
    return std::ranges::find(providers, provider) != providers.end();
  }

  // Made when the first event of the runtime asks for it.
  static const SchemaTable& table() {
    static const SchemaTable read = read_event_table(rows);
    return read;
  }

  ClrVersions versions_;
};

}  // namespace

std::shared_ptr<const SchemaSource> clr_schemas(ClrVersions versions) {
  static const auto exact = std::make_shared<const ClrSchemas>(ClrVersions::exact);
  static const auto nearest = std::make_shared<const ClrSchemas>(ClrVersions::nearest);
  return versions == ClrVersions::exact ? exact : nearest;
}

}  // namespace coldtrace::tracefile
