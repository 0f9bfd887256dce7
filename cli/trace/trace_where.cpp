#include "cli/trace/trace_where.hpp"

#include <charconv>

#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/output/where_error.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::cli {
namespace {

using SeeValue = tracefile::EventLineReader::See;

std::optional<where::Number> line_hex_number(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional{where::Number::of(number)} : std::nullopt;
}

tracefile::Subject line_subject(const rapidjson::Value& json) {
  if (json.IsBool()) return {.boolean = json.GetBool()};
  if (json.IsUint64()) return {.number = where::Number::of(u64{json.GetUint64()})};
  if (json.IsInt64()) return {.number = where::Number::of(i64{json.GetInt64()})};
  if (json.IsNumber()) return {.number = where::Number::of(json.GetDouble())};
  const std::string_view text{json.GetString(), json.GetStringLength()};
  return {.number = line_hex_number(text),
          .time = core::parse_file_time(text),
          .guid = core::parse_guid(text),
          .text = text};
}

const rapidjson::Value* find_in_line(const rapidjson::Value& object, std::string_view name) {
  const auto found = object.FindMember(rapidjson::Value{
      rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))});
  return found == object.MemberEnd() ? nullptr : &found->value;
}

// Objects have members instead of a value, but for texts inside arrays that have their units beside
// them.
bool see_in_line(const rapidjson::Value& json, const SeeValue& see) {
  if (json.IsNull()) return false;
  if (json.IsArray()) {
    for (const auto& element : json.GetArray()) see_in_line(element, see);
    return true;
  }
  const auto* const value = json.IsObject() ? find_in_line(json, "text") : &json;
  if (value != nullptr && (value == &json || value->IsString())) see(line_subject(*value));
  return true;
}

bool follow_in_line(const rapidjson::Value& json, std::span<const std::string> path,
                    const SeeValue& see) {
  if (path.empty()) return see_in_line(json, see);
  if (json.IsArray()) {
    bool there = false;
    for (const auto& element : json.GetArray()) there |= follow_in_line(element, path, see);
    return there;
  }
  const auto* const member = json.IsObject() ? find_in_line(json, path.front()) : nullptr;
  return member != nullptr && follow_in_line(*member, path.subspan(1), see);
}

// The line of one event as a document, made when it is asked for.
class ParsedLine {
 public:
  ParsedLine(const TraceContext& context, bool frames)
      : lines_{context,
               {.header_fields = true, .schema_files = true, .messages = true, .frames = frames}} {}

  void forget() { value_ = nullptr; }

  const rapidjson::Value& of(const tracefile::Event& event,
                             const tracefile::AttachedStack* attached) {
    if (value_ != nullptr) return *value_;
    text_.clear();
    lines_.append_event(text_, event, attached);
    value_ = &reader_.read(text_.view());
    return *value_;
  }

 private:
  TraceLines lines_;
  core::TextBuffer text_;
  ParsedJson reader_;
  const rapidjson::Value* value_ = nullptr;  // once it is made
};

class WholeLineReader final : public tracefile::EventLineReader {
 public:
  explicit WholeLineReader(const TraceContext& context)
      : context_{context},
        frames_{context_.names, context_.functions},
        line_{context_, false},
        framed_{context_, true} {}

  void set(const tracefile::Event& event, const tracefile::AttachedStack* attached) override {
    event_ = &event;
    attached_ = attached;
    line_.forget();
    framed_.forget();
  }

  bool each(std::span<const std::string> path, const SeeValue& see) override {
    auto& line = path.front() == "stack" ? framed_ : line_;
    return follow_in_line(line.of(*event_, attached_), path, see);
  }

  std::optional<std::string> name_frame(std::optional<u32> pid, u64 address, i64 time) override {
    if (!frames_.has_functions()) return std::nullopt;
    return frames_.find(pid, address, time).text();
  }

  std::optional<std::string> name_value(const tracefile::Value& value,
                                        const tracefile::NameScope& scope) override {
    using tracefile::OutType;
    std::string name;
    if (value.out == OutType::code_pointer || value.out == OutType::stack_frame)
      name = find_function_name(frames_, context_.names, value, scope);
    else if (value.out == OutType::system_call || value.out == OutType::name_hash)
      name = context_.calls != nullptr ? context_.calls->find(value) : std::string_view{};
    return name.empty() ? std::nullopt : std::optional{std::move(name)};
  }

 private:
  const TraceContext context_;
  FrameNames frames_;
  ParsedLine line_;
  ParsedLine framed_;
  const tracefile::Event* event_ = nullptr;
  const tracefile::AttachedStack* attached_ = nullptr;
};

}  // namespace

std::optional<tracefile::WhereExpression> read_where(std::string_view option,
                                                     std::string_view text) {
  static const LineMembers members{nullptr, nullptr};
  auto where = tracefile::parse_where(text);
  if (where) {
    where->lines = &members;
    return std::move(*where);
  }
  say_where_error(option, text, where.error());
  return std::nullopt;
}

TraceContext trace_context_of(const tracefile::EventContext& context) {
  TraceContext lines{context};
  if (context.trace == nullptr) return lines;
  lines.windows = tracefile::find_kernel_version(context.trace->windows_version());
  const auto& pdbs = context.trace->message_pdbs();
  if (pdbs.size() == 1) lines.message_pdb = &*pdbs.begin();
  return lines;
}

std::unique_ptr<tracefile::EventLineReader> LineMembers::open(
    const tracefile::EventContext& context) const {
  auto lines = trace_context_of(context);
  lines.calls = calls_;
  lines.functions = functions_;
  return std::make_unique<WholeLineReader>(lines);
}

}  // namespace coldtrace::cli
