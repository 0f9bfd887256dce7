#include "cli/trace/lines/event_text.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "cli/sqlite/json_values.hpp"
#include "coldtrace/core/display_width.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr std::size_t time_columns = 27;
constexpr std::size_t process_columns = 15;

// Of a line on a narrow terminal.
constexpr std::size_t narrow_time_columns = 16;  // of "time (UTC+05:30)"
constexpr std::size_t narrow_process_columns = 18;

// Of the terminal; 0 without one.
std::size_t& text_columns() {
  static std::size_t columns = 0;
  return columns;
}

bool is_narrow() {
  constexpr std::size_t roomy = 100;
  return text_columns() > 0 && text_columns() < roomy;
}

std::string number_or_dash(const Value& number) {
  return number.IsNumber() ? json_of(number) : "-";
}

std::string time_column(const Value& event) {
  const auto time = core::parse_file_time(text_of(event, "time"));
  auto text = time ? exact_text_time(*time) : std::string{"-"};
  if (text.ends_with('Z')) text.pop_back();
  return text;
}

std::string padded(std::string text, std::size_t columns) {
  const auto width = core::display_width(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

// "12:34:56.123456" of "2024-02-29T12:34:56.1234567".
std::string time_of_day(const std::string& time) {
  const auto date = time.find('T');
  return time.substr(date == time.npos ? 0 : date + 1, narrow_time_columns - 1);
}

// "Provider/Event", without a provider that the event's name begins with.
std::string whole_name(const std::string& owner, const std::string& name) {
  const bool is_known = owner.empty() || (name.size() > owner.size() && name[owner.size()] == '/' &&
                                          name.starts_with(owner));
  return is_known ? name : fmt::format("{}/{}", owner, name);
}

// "Thread/CSwitch" of the kernel, "Provider/Event" of others.
std::string event_name(const Value& event) {
  const auto& provider = member_of(event, "provider");
  auto name = std::string{text_of(event, "name")};
  if (name.empty()) {
    const auto& id = member_of(event, "id");
    name = id.IsNumber() ? "id " + json_of(id)
                         : "opcode " + number_or_dash(member_of(event, "opcode"));
  }
  auto owner = std::string{text_of(provider, "name")};
  if (owner == "Windows Kernel")
    owner.clear();
  else if (owner.empty())
    owner = text_of(provider, "guid");
  return whole_name(printable(owner), printable(name));
}

// A text without blanks stands as it is.
void append_value(core::TextBuffer& text, const Value& value) {
  if (value.IsUint64()) return text.append_decimal(u64{value.GetUint64()});
  if (!value.IsString()) return text.append(printable(json_of(value)));
  const std::string_view whole{value.GetString(), value.GetStringLength()};
  const bool plain = !whole.empty() && whole.find_first_of(" \"=()") == std::string_view::npos;
  if (!plain) text.append('"');
  text.append(printable(whole));
  if (!plain) text.append('"');
}

// " Name=value(what it stands for)" of each member.
void append_members(core::TextBuffer& text, const Value& members, const Value& resolved) {
  if (!members.IsObject()) return;
  for (const auto& member : members.GetObject()) {
    if (member.value.IsNull()) continue;
    const auto* const name = member.name.GetString();
    text.append(' ');
    text.append(printable(name));
    text.append('=');
    append_value(text, member.value);
    const auto& meaning = member_of(resolved, name);
    if (meaning.IsNull() || meaning == member.value) continue;
    text.append('(');
    text.append(printable(exact_of(resolved, name)));
    text.append(')');
  }
}

void append_gap(core::TextBuffer& text, Value& gap) {
  text.append("lost events:");
  for (const auto* const known : {"type", "time", "timestamp"}) gap.RemoveMember(known);
  append_members(text, gap, {});
}

void append_details_of(core::TextBuffer& text, const Value& event) {
  if (const auto message = text_of(event, "message"); !message.empty()) {
    text.append(' ');
    text.append(printable(message));
    return;
  }
  append_members(text, member_of(event, "fields"), member_of(event, "resolved"));
  for (const auto* const bytes : {"payload", "trailing"})
    if (const auto hex = text_of(event, bytes); !hex.empty())
      text.append(fmt::format(" {}={}", bytes, hex));
}

}  // namespace

void fit_event_text(std::size_t columns) {
  text_columns() = columns;
}

std::string event_text_heading() {
  if (is_narrow())
    return fmt::format("{} {:<{}}  event and fields\n",
                       padded(fmt::format("time ({})", text_zone()), narrow_time_columns),
                       "process and id", narrow_process_columns);
  return fmt::format("{:<{}}  {:>6} {:<6}  {:<{}}  event and fields\n",
                     fmt::format("time ({})", text_zone()), time_columns, "pid", "tid", "process",
                     process_columns);
}

void append_event_text(core::TextBuffer& text, rapidjson::Value& event) {
  auto line = is_narrow() ? padded(time_of_day(time_column(event)), narrow_time_columns) + " "
                          : fmt::format("{:<{}}  ", time_column(event), time_columns);
  if (text_of(event, "type") == "gap") {
    text.append(line);
    append_gap(text, event);
  } else {
    const auto process = printable(exact_of(event, "process"));
    const auto pid = number_or_dash(member_of(event, "pid"));
    if (is_narrow())
      line += padded(process.empty() ? pid : fmt::format("{} {}", process, pid),
                     narrow_process_columns);
    else
      line += fmt::format("{:>6} {:<6}  {}", pid, number_or_dash(member_of(event, "tid")),
                          padded(process, process_columns));
    line += "  ";
    line += event_name(event);
    text.append(line);
    append_details_of(text, event);
  }
  text.append('\n');
}

}  // namespace coldtrace::cli
