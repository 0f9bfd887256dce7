#include "coldtrace/syscall-map/servicing/hook_rows.hpp"

#include <map>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::syscall_map {
namespace {

// Adds the values of a row that are known.
class Values {
 public:
  explicit Values(HookRow& row) : values_{row.values} {}

  Values& place(std::string_view member, u64 number) { return add(member, true, number); }
  Values& place(std::string_view member, pe::Rva rva) { return add(member, true, u64{value(rva)}); }
  template <class T>
  Values& place(std::string_view member, const std::optional<T>& maybe) {
    return maybe ? place(member, *maybe) : *this;
  }
  Values& text(std::string_view member, std::string what) {
    return add(member, false, std::move(what));
  }
  Values& number(std::string_view member, std::optional<u64> maybe) {
    return maybe ? add(member, false, *maybe) : *this;
  }
  Values& negative(std::string_view member, i64 below) { return add(member, false, below); }

 private:
  Values& add(std::string_view member, bool is_place, HookRowContent what) {
    values_.push_back({member, is_place, std::move(what)});
    return *this;
  }

  std::vector<HookRowValue>& values_;
};

std::string hex_of(const std::vector<u8>& bytes) {
  return core::to_hex(std::as_bytes(std::span{bytes}));
}

class Lister {
 public:
  void add(const HookService& service) {
    const auto name = service.names.empty() ? std::string{} : service.names.front();
    auto& row = start(HookRowKind::service, name);
    if (!service.names.empty()) row.aliases.assign(service.names.begin() + 1, service.names.end());
    Values values{row};
    values.place("number", u64{service.number}).place("target", service.target);
    if (service.image) values.text("image", std::string{to_string(*service.image)});
    values.number("argument_bytes", service.argument_bytes)
        .number("stack_argument_bytes", service.stack_argument_bytes)
        .number("name_hash", service.name_hash);
  }

  void add(const HookServiceTable& located) {
    const auto& table = located.table;
    Values{start(HookRowKind::service_table, table.name)}
        .place("rva", table.rva)
        .place("limit", table.limit)
        .place("arguments", table.arguments)
        .place("descriptor", table.descriptor)
        .text("image", std::string{to_string(located.image)})
        .text("form", std::string{to_string(table.form)})
        .number("entries", u64{table.entries.size()});
  }

  void add(const ServicesTab& tab) {
    Values{start(HookRowKind::services_tab, "KiServicesTab")}
        .place("rva", tab.rva)
        .number("records", u64{tab.entries.size()});
  }

  void add(const ContextSwitch& found) {
    std::string methods;
    for (const auto& option : found.plan.options)
      if (option.safe)
        methods += fmt::format("{}{}", methods.empty() ? "" : ", ", to_string(option.method));
    Values{start(HookRowKind::context_switch, found.name)}
        .place("rva", found.rva)
        .place("kernel_stack_offset", found.kernel_stack_offset)
        .text("condition", std::string{to_string(found.condition)})
        .text("first_bytes", hex_of(found.first_bytes))
        .text("safe_patches", std::move(methods));
  }

  void add(const FieldOffset& field) {
    Values{start(HookRowKind::thread_offset, field.structure + "." + field.field)}.place(
        "offset", u64{field.offset});
  }

  void add(const SupportedInterface& interface) {
    if (!interface.exported && !interface.imported) return;
    Values{start(HookRowKind::interface, interface.name)}
        .place("rva", interface.rva)
        .text("exported", std::string{interface.exported ? "yes" : "no"});
  }

  void add(const TracePoint& point) {
    if (!point.eligible()) return;
    Values{start(HookRowKind::trace_point, point.requested)}
        .place("rva", point.rva)
        .text("bytes", hex_of(point.bytes));
  }

  void add(const MemberValue& member) {
    if (!member.value) return;
    Values values{start(HookRowKind::member, member.name)};
    if (member.negative)
      values.negative("value", static_cast<i64>(*member.value));
    else if (member.kind == MemberKind::size || member.kind == MemberKind::constant)
      values.number("value", *member.value);
    else
      values.place("value", *member.value);
    values.number("size", member.size)
        .place("bit_position", member.bit_position)
        .number("bit_length", member.bit_length);
  }

  std::vector<HookRow> take() { return std::move(rows_); }

 private:
  HookRow& start(HookRowKind kind, std::string name) {
    const auto count = seen_[{kind, name}]++;
    rows_.push_back({kind, std::move(name), {}, count, {}});
    return rows_.back();
  }

  std::vector<HookRow> rows_;
  std::map<std::pair<HookRowKind, std::string>, u32> seen_;
};

}  // namespace

std::string_view to_string(HookRowKind kind) {
  switch (kind) {
    case HookRowKind::service:
      return "service";
    case HookRowKind::service_table:
      return "service_table";
    case HookRowKind::services_tab:
      return "services_tab";
    case HookRowKind::context_switch:
      return "context_switch";
    case HookRowKind::thread_offset:
      return "thread_offset";
    case HookRowKind::interface:
      return "interface";
    case HookRowKind::trace_point:
      return "trace_point";
    case HookRowKind::member:
      return "member";
  }
  return "";
}

const HookRowValue* HookRow::find(std::string_view member) const {
  for (const auto& value : values)
    if (value.member == member) return &value;
  return nullptr;
}

std::vector<HookRow> list_hook_rows(const HookTable& table) {
  Lister lister;
  for (const auto& service : table.services) lister.add(service);
  for (const auto& located : table.service_tables) lister.add(located);
  if (table.services_tab) lister.add(*table.services_tab);
  for (const auto& candidate : table.context_switch.candidates) lister.add(candidate);
  for (const auto& field : table.thread_offsets.fields) lister.add(field);
  for (const auto& interface : table.supported_interfaces) lister.add(interface);
  for (const auto& point : table.trace_points) lister.add(point);
  for (const auto& member : table.members) lister.add(member);
  return lister.take();
}

}  // namespace coldtrace::syscall_map
