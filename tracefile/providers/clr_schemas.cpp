#include "tracefile/providers/clr_schemas.hpp"

#include <algorithm>
#include <charconv>

#include "tracefile/fields/event_name.hpp"
#include "tracefile/providers/event_layout.hpp"

namespace coldtrace::tracefile {
namespace {

enum class Row : u8 { provider, values, bits, task, event, fields };

struct TableRow {
  Row row;
  u8 version;
  std::string_view name;
  std::string_view text;
};

constexpr TableRow rows[] = {
#define CLR_PROVIDER(name, guid) {Row::provider, 0, name, guid},
#define CLR_VALUES(name, names) {Row::values, 0, name, names},
#define CLR_BITS(name, names) {Row::bits, 0, name, names},
#define CLR_TASK(name) {Row::task, 0, name, {}},
#define CLR_EVENT(events) {Row::event, 0, {}, events},
#define CLR_FIELDS(version, layout) {Row::fields, version, {}, layout},
#include "tracefile/providers/clr_event_table.inc"
#undef CLR_PROVIDER
#undef CLR_VALUES
#undef CLR_BITS
#undef CLR_TASK
#undef CLR_EVENT
#undef CLR_FIELDS
};

constexpr auto providers = [] {
  std::array<core::Guid,
             std::count_if(std::begin(rows), std::end(rows),
                           [](const TableRow& row) { return row.row == Row::provider; })>
      found{};
  std::size_t at = 0;
  for (const auto& row : rows)
    if (row.row == Row::provider) found[at++] = core::parse_guid(row.text).value();
  return found;
}();

u32 take_number(std::string_view& text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  u32 number = 0;
  const auto* const end = text.data() + text.size();
  const auto* const rest = std::from_chars(text.data(), end, number, hex ? 16 : 10).ptr;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

struct Numbered {
  u32 number;
  u32 mask;
  std::string_view name;
};

// Takes "5 Name" or "0x10/0x30 Name" off the front of a list.
Numbered take_numbered(std::string_view& list) {
  auto one = list.substr(0, list.find(", "));
  list.remove_prefix(std::min(one.size() + 2, list.size()));
  Numbered found{take_number(one), 0, {}};
  if (one.starts_with('/')) {
    one.remove_prefix(1);
    found.mask = take_number(one);
  }
  one.remove_prefix(std::min<std::size_t>(1, one.size()));
  found.name = one;
  return found;
}

class TableReader {
 public:
  SchemaTable read() {
    for (const auto& row : rows) read_row(row);
    return std::move(table_);
  }

 private:
  void read_row(const TableRow& row) {
    switch (row.row) {
      case Row::provider:
        provider_ = core::parse_guid(row.text).value_or(core::Guid{});
        provider_name_ = row.name;
        break;
      case Row::values:
      case Row::bits:
        read_map(row);
        break;
      case Row::task:
        task_ = row.name;
        break;
      case Row::event:
        events_ = row.text;
        layout_.clear();
        break;
      case Row::fields:
        read_fields(row);
        break;
    }
  }

  void read_map(const TableRow& row) {
    auto map = std::make_shared<ValueMap>();
    map->name = row.name;
    map->bits = row.row == Row::bits;
    for (auto left = row.text; !left.empty();) {
      const auto [value, mask, text] = take_numbered(left);
      map->entries.push_back({value, std::string{text}, mask});
    }
    maps_[row.name] = std::move(map);
  }

  void read_fields(const TableRow& row) {
    if (row.text.starts_with('+'))
      layout_.append(row.text.substr(1));
    else
      layout_ = row.text;
    const auto find_values = [&](std::string_view name) {
      const auto map = maps_.find(name);
      return map == maps_.end() ? nullptr : map->second;
    };
    auto schema = parse_event_layout(layout_, find_values);
    if (!schema) return;
    schema->provider_name = provider_name_;
    for (auto left = events_; !left.empty();) {
      const auto event = take_numbered(left);
      schema->event_name = event_name_of(task_, event.name);
      table_.add({provider_, static_cast<u16>(event.number), row.version, false}, *schema);
    }
  }

  SchemaTable table_;
  core::Guid provider_;
  std::string_view provider_name_, task_, events_;
  std::string layout_;
  std::map<std::string_view, std::shared_ptr<const ValueMap>> maps_;
};

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

 private:
  static bool is_clr(const core::Guid& provider) {
    return std::ranges::find(providers, provider) != providers.end();
  }

  // Made when the first event of the runtime asks for it.
  static const SchemaTable& table() {
    static const SchemaTable read = TableReader{}.read();
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
