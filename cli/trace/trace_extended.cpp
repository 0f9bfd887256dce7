#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/output/json_text.hpp"
#include "cli/trace/trace_lines.hpp"
#include "coldtrace/tracefile/extended_data.hpp"

namespace coldtrace::cli {
namespace {

using core::ByteView;
using core::TextBuffer;
using tracefile::ExtendedType;

enum class Form : u8 { guid, sid, decimal, hex, words };

struct ItemName {
  ExtendedType type;
  Form form;
  std::string_view name;
};

// Stacks, schema and traits have places of their own.
constexpr ItemName item_names[] = {
    {ExtendedType::related_activity, Form::guid, "related_activity"},
    {ExtendedType::sid, Form::sid, "sid"},
    {ExtendedType::terminal_session, Form::decimal, "terminal_session"},
    {ExtendedType::instance, Form::hex, "instance"},
    {ExtendedType::pebs, Form::hex, "pebs"},
    {ExtendedType::pmc, Form::words, "counters"},
    {ExtendedType::psm_key, Form::hex, "psm_key"},
    {ExtendedType::event_key, Form::decimal, "event_key"},
    {ExtendedType::process_start_key, Form::decimal, "process_start_key"},
    {ExtendedType::control_guid, Form::guid, "control_guid"},
    {ExtendedType::qpc_delta, Form::decimal, "qpc_delta"},
    {ExtendedType::container, Form::guid, "container"},
};

class Members {
 public:
  Members(TextBuffer& json, Int64 int64) : json_{json}, int64_{int64} {}

  // A name that comes again gets a number.
  void key(std::string_view name) {
    const auto uses = std::count(names_.begin(), names_.end(), name);
    json_.append(names_.empty() ? ",\"extended\":{\"" : ",\"");
    json_.append(name);
    if (uses > 0) json_.append(fmt::format("_{}", uses + 1));
    json_.append("\":");
    names_.emplace_back(name);
  }

  void number(std::string_view name, u64 value) {
    key(name);
    append_json_integer(json_, value, int64_);
  }

  void guid(std::string_view name, const core::Guid& value) {
    key(name);
    append_json_text(json_, core::to_string(value));
  }

  void words(std::string_view name, ByteView data) {
    key(name);
    char separator = '[';
    for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
      json_.append(separator);
      append_json_integer(json_, *core::load<u64>(data, at), int64_);
      separator = ',';
    }
    json_.append(separator == '[' ? "[]" : "]");
  }

  void item(const ItemName& name, ByteView data) {
    switch (name.form) {
      case Form::guid:
        return guid(name.name, core::to_guid(data));
      case Form::words:
        return words(name.name, data);
      case Form::decimal:
        if (data.size() >= 8) return number(name.name, *core::load<u64>(data, 0));
        if (data.size() >= 4) return number(name.name, *core::load<u32>(data, 0));
        break;
      case Form::sid:
        key(name.name);
        json_.append('"');
        tracefile::append_sid(json_, data);
        json_.append('"');
        return;
      case Form::hex:
        break;
    }
    hex(name.name, data);
  }

  void hex(std::string_view name, ByteView data) {
    key(name);
    json_.append('"');
    json_.append_hex(data);
    json_.append('"');
  }

  void close() {
    if (!names_.empty()) json_.append('}');
  }

 private:
  TextBuffer& json_;
  Int64 int64_;
  std::vector<std::string> names_;
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

}  // namespace

void TraceLines::append_extended(TextBuffer& json, const tracefile::Event& event) {
  Members members{json, options_.int64};
  tracefile::ExtendedItems items{event};
  while (const auto item = items.next()) {
    if (has_its_own_place(item->type)) continue;
    const auto* const known =
        std::find_if(std::begin(item_names), std::end(item_names),
                     [&](const ItemName& name) { return name.type == item->type; });
    if (known != std::end(item_names))
      members.item(*known, item->data);
    else
      members.hex(fmt::format("item_{}", static_cast<unsigned>(item->type)), item->data);
  }
  if (const auto counters = tracefile::header_counters(event); !counters.empty())
    members.words("counters", counters);
  if (const auto instance = tracefile::find_instance(event)) {
    members.number("instance_id", instance->id);
    members.number("parent_instance_id", instance->parent_id);
    members.guid("parent", instance->parent);
  }
  if (const auto message = tracefile::find_message_header(event)) {
    members.number("options", message->options);
    if (message->sequence) members.number("sequence", *message->sequence);
    if (message->component) members.number("component", *message->component);
  }
  members.close();
}

}  // namespace coldtrace::cli
