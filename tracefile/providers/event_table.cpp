#include "tracefile/providers/event_table.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "tracefile/fields/event_name.hpp"
#include "tracefile/providers/event_layout.hpp"

namespace coldtrace::tracefile {
namespace {

using Kind = EventTableRow::Kind;

u64 take_number(std::string_view& text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  u64 number = 0;
  const auto* const end = text.data() + text.size();
  const auto* const rest = std::from_chars(text.data(), end, number, hex ? 16 : 10).ptr;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

struct Numbered {
  u64 number;
  u64 mask;
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
  SchemaTable read(std::span<const EventTableRow> rows) {
    for (const auto& row : rows) read_row(row);
    set_names();
    return std::move(table_);
  }

 private:
  void read_row(const EventTableRow& row) {
    switch (row.kind) {
      case Kind::provider:
        set_names();
        provider_ = core::parse_guid(row.text).value_or(core::Guid{});
        provider_name_ = row.name;
        break;
      case Kind::values:
      case Kind::bits:
        read_map(row);
        break;
      case Kind::keywords:
        for (auto left = row.text; !left.empty();) {
          const auto keyword = take_numbered(left);
          names_.keywords.push_back({keyword.number, std::string{keyword.name}});
        }
        break;
      case Kind::task:
        read_task(row);
        break;
      case Kind::event:
        events_ = row.text;
        layout_.clear();
        break;
      case Kind::fields:
        read_fields(row);
        break;
    }
  }

  void read_task(const EventTableRow& row) {
    task_ = row.name;
    if (row.version != 0) names_.tasks.push_back({row.version, std::string{row.name}});
    for (auto left = row.text; !left.empty();) {
      const auto opcode = take_numbered(left);
      names_.opcodes.push_back({opcode.number << 16 | row.version, std::string{opcode.name}});
    }
  }

  // Those of the provider that ends here.
  void set_names() {
    auto names = std::exchange(names_, {});
    if (!names.tasks.empty()) table_.set_names(provider_, std::move(names));
  }

  void read_map(const EventTableRow& row) {
    auto map = std::make_shared<ValueMap>();
    map->name = row.name;
    map->bits = row.kind == Kind::bits;
    for (auto left = row.text; !left.empty();) {
      const auto [value, mask, text] = take_numbered(left);
      map->entries.push_back({static_cast<u32>(value), std::string{text}, static_cast<u32>(mask)});
    }
    maps_[row.name] = std::move(map);
  }

  void read_fields(const EventTableRow& row) {
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
  ProviderNames names_;
  std::string layout_;
  std::map<std::string_view, std::shared_ptr<const ValueMap>> maps_;
};

}  // namespace

SchemaTable read_event_table(std::span<const EventTableRow> rows) {
  return TableReader{}.read(rows);
}

}  // namespace coldtrace::tracefile
