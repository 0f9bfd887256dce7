#include "coldtrace/tracefile/providers/extended_members.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

using Form = ExtendedMember::Form;

struct ItemName {
  ExtendedType type;
  Form form;
  std::string_view name;
};

// Stacks, schema and traits have places of their own in a line.
constexpr ItemName item_names[] = {
    {ExtendedType::related_activity, Form::guid, "related_activity"},
    {ExtendedType::sid, Form::sid, "sid"},
    {ExtendedType::terminal_session, Form::number, "terminal_session"},
    {ExtendedType::instance, Form::hex, "instance"},
    {ExtendedType::pebs, Form::hex, "pebs"},
    {ExtendedType::pmc, Form::words, "counters"},
    {ExtendedType::psm_key, Form::hex, "psm_key"},
    {ExtendedType::event_key, Form::number, "event_key"},
    {ExtendedType::process_start_key, Form::number, "process_start_key"},
    {ExtendedType::control_guid, Form::guid, "control_guid"},
    {ExtendedType::qpc_delta, Form::number, "qpc_delta"},
    {ExtendedType::container, Form::guid, "container"},
};

struct HeaderName {
  Form form;
  std::string_view name;
};

// Of headers, beside "counters".
constexpr HeaderName header_names[] = {
    {Form::number, "pebs_index"},
    {Form::number, "instance_id"},
    {Form::number, "parent_instance_id"},
    {Form::guid, "parent"},
    {Form::number, "options"},
    {Form::number, "sequence"},
    {Form::number, "component"},
};

bool has_its_own_place(ExtendedType type) {
  switch (type) {
    case ExtendedType::stack32:
    case ExtendedType::stack64:
    case ExtendedType::stack_key32:
    case ExtendedType::stack_key64:
    case ExtendedType::schema:
    case ExtendedType::provider_traits:
      return true;
    default:
      return false;
  }
}

void add(std::vector<ExtendedMember>& members, std::string_view name, Form form, u64 number,
         core::ByteView data) {
  const auto before =
      std::count_if(members.begin(), members.end(), [&](const ExtendedMember& member) {
        return member.name == name && (!name.empty() || member.number == number);
      });
  members.push_back({name, before > 0 ? static_cast<unsigned>(before) + 1 : 0, form, number, data});
}

// Of another size than it should have, it is bytes.
void add_item(std::vector<ExtendedMember>& members, const ExtendedItem& item) {
  const auto* const known =
      std::find_if(std::begin(item_names), std::end(item_names),
                   [&](const ItemName& name) { return name.type == item.type; });
  if (known == std::end(item_names)) {
    add(members, {}, Form::hex, static_cast<u64>(item.type), item.data);
    return;
  }
  auto form = known->form;
  u64 number = 0;
  if (form == Form::number) {
    if (item.data.size() >= sizeof(u64))
      number = *core::load<u64>(item.data, 0);
    else if (item.data.size() >= sizeof(u32))
      number = *core::load<u32>(item.data, 0);
    else
      form = Form::hex;
  }
  add(members, known->name, form, number, item.data);
}

}  // namespace

std::string ExtendedMember::full_name() const {
  auto whole = name.empty() ? fmt::format("item_{}", number) : std::string{name};
  if (repetition > 0) whole += fmt::format("_{}", repetition);
  return whole;
}

std::optional<ExtendedMember::Form> find_extended_form(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  const bool is_numbered = end != name.npos && end + 1 < name.size() && name[end] == '_';
  if (is_numbered && name.substr(0, end) == "item") return Form::hex;
  const auto base = is_numbered ? name.substr(0, end) : name;
  if (is_numbered && base.starts_with("item_")) return Form::hex;  // item_19_2
  for (const auto& known : item_names)
    if (known.name == base) return known.form;
  for (const auto& known : header_names)
    if (known.name == base) return known.form;
  return std::nullopt;
}

std::vector<std::string_view> extended_member_names() {
  std::vector<std::string_view> names;
  for (const auto& known : item_names) names.push_back(known.name);
  for (const auto& known : header_names) names.push_back(known.name);
  return names;
}

void read_extended_members(const Event& event, std::vector<ExtendedMember>& members) {
  members.clear();
  ExtendedItems items{event};
  while (const auto item = items.next())
    if (!has_its_own_place(item->type)) add_item(members, *item);
  if (const auto index = find_pebs_index(event))
    add(members, "pebs_index", Form::number, *index, {});
  if (const auto counters = header_counters(event); !counters.empty())
    add(members, "counters", Form::words, 0, counters);
  if (const auto instance = find_instance(event)) {
    add(members, "instance_id", Form::number, instance->id, {});
    add(members, "parent_instance_id", Form::number, instance->parent_id, {});
    constexpr std::size_t parent_at = 56;  // of an INSTANCE header
    add(members, "parent", Form::guid, 0,
        event.header.subspan(parent_at, core::Guid::size_on_disk));
  }
  if (const auto message = find_message_header(event)) {
    add(members, "options", Form::number, message->options, {});
    if (message->sequence) add(members, "sequence", Form::number, *message->sequence, {});
    if (message->component) add(members, "component", Form::number, *message->component, {});
  }
}

}  // namespace coldtrace::tracefile
