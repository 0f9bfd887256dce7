#include "cli/output/json_text.hpp"
#include "cli/trace/lines/trace_lines.hpp"
#include "coldtrace/tracefile/providers/extended_members.hpp"

namespace coldtrace::cli {
namespace {

using core::TextBuffer;
using tracefile::ExtendedMember;

void append_words(TextBuffer& json, core::ByteView data, Int64 int64) {
  char separator = '[';
  for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
    json.append(separator);
    append_json_integer(json, *core::load<u64>(data, at), int64);
    separator = ',';
  }
  json.append(separator == '[' ? "[]" : "]");
}

void append_value(TextBuffer& json, const ExtendedMember& member, Int64 int64) {
  if (member.form == ExtendedMember::Form::number)
    return append_json_integer(json, member.number, int64);
  if (member.form == ExtendedMember::Form::words) return append_words(json, member.data, int64);
  json.append('"');
  if (member.form == ExtendedMember::Form::guid)
    json.append(core::to_string(core::to_guid(member.data)));
  else if (member.form == ExtendedMember::Form::sid)
    tracefile::append_sid(json, member.data);
  else
    json.append_hex(member.data);
  json.append('"');
}

}  // namespace

void TraceLines::append_extended(TextBuffer& json, const tracefile::Event& event) {
  read_extended_members(event, extended_);
  // Of what is nobody's name the others say enough.
  if (trace_.hashed != nullptr)
    std::erase_if(extended_, [](const ExtendedMember& member) {
      return member.form == ExtendedMember::Form::sid || member.form == ExtendedMember::Form::hex;
    });
  if (extended_.empty()) return;
  std::string_view before = ",\"extended\":{\"";
  for (const auto& member : extended_) {
    json.append(before);
    before = ",\"";
    if (member.repetition == 0 && !member.name.empty())
      json.append(member.name);
    else
      json.append(member.full_name());
    json.append("\":");
    append_value(json, member, options_.int64);
  }
  json.append('}');
}

}  // namespace coldtrace::cli
