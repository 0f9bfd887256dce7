#include "tracefile/providers/event_layout.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace coldtrace::tracefile {
namespace {

using Rule = FieldSchema::Rule;

struct Word {
  std::string_view text;
  InType in;
  OutType out = OutType::none;
};

constexpr Word words[] = {
    {"u8", InType::u8},
    {"i8", InType::i8},
    {"u16", InType::u16},
    {"i16", InType::i16},
    {"u32", InType::u32},
    {"i32", InType::i32},
    {"u64", InType::u64},
    {"i64", InType::i64},
    {"x32", InType::hex32},
    {"x64", InType::hex64},
    {"f64", InType::f64},
    {"bool8", InType::bool8},
    {"bool32", InType::bool32},
    {"ptr", InType::pointer, OutType::hex64},
    {"size", InType::size},
    {"code", InType::pointer, OutType::code_pointer},
    {"frame", InType::pointer, OutType::stack_frame},
    {"file", InType::pointer, OutType::file_key},
    {"key", InType::pointer, OutType::registry_key},
    {"asz", InType::ansi},
    {"utf8z", InType::ansi, OutType::utf8},
    {"wsz", InType::utf16},
    {"wchar", InType::utf16},
    {"text", InType::text},
    {"lznt1", InType::lznt1_utf16},
    {"guid", InType::guid},
    {"sid", InType::kernel_sid},
    {"port", InType::u16, OutType::port},
    {"ip4", InType::u32, OutType::ipv4},
    {"ip6", InType::binary, OutType::ipv6},
    {"time", InType::session_time},
    {"filetime", InType::file_time},
    {"systemtime", InType::system_time},
    {"status", InType::u32, OutType::nt_status},
    {"exit", InType::i32, OutType::exit_status},
    {"pid", InType::u32, OutType::own_process},
    {"tid", InType::u32, OutType::own_thread},
    {"ppid", InType::pointer, OutType::own_process},
    {"ptid", InType::pointer, OutType::own_thread},
    {"bytes", InType::binary},
    {"pad", InType::binary},
    {"pad64", InType::pointer},
};

class LayoutParser {
 public:
  LayoutParser(std::string_view text, const FindValues& find_values)
      : text_{text}, find_values_{find_values} {}

  std::optional<EventSchema> parse() {
    if (!fields(schema_.fields, '\0')) return std::nullopt;
    make_names_unique(schema_.fields);
    return std::move(schema_);
  }

 private:
  bool fields(std::vector<FieldSchema>& into, char end) {
    while (true) {
      while (take(' ')) {
      }
      if (text_.empty()) return end == '\0';
      if (end != '\0' && take(end)) return true;
      FieldSchema field;
      if (!read_field(field, into)) return false;
      into.push_back(std::move(field));
    }
  }

  bool read_field(FieldSchema& field, std::vector<FieldSchema>& before) {
    field.name = name();
    if (field.name.empty() || !take(':')) return false;
    if (take('{')) {
      field.in = InType::structure;
      return fields(field.members, '}') && (!take('[') || amount(field, before));
    }
    const auto type = name();
    const auto word = std::find_if(std::begin(words), std::end(words),
                                   [&](const Word& w) { return w.text == type; });
    if (word == std::end(words)) return false;
    field.in = word->in;
    field.out = word->out;
    field.padding = type == "pad" || type == "pad64";
    if (field.in == InType::lznt1_utf16)
      return !before.empty() && refer(field.length, before.back());
    if (take('[') && !amount(field, before)) return false;
    field.optional = take('?');
    return !take('=') || (field.map = find_values_(name())) != nullptr;
  }

  // What stands in brackets: for texts and binaries a number is a length.
  bool amount(FieldSchema& field, std::vector<FieldSchema>& before) {
    const auto inside = name();
    if (!take(']')) return false;
    const bool sized = field.in == InType::binary || field.in == InType::utf16;
    if (inside.empty()) {
      (field.in == InType::binary ? field.length : field.count).rule = Rule::rest;
      return true;
    }
    u16 number = 0;
    const auto* const end = inside.data() + inside.size();
    if (std::from_chars(inside.data(), end, number).ptr == end) {
      (sized ? field.length : field.count) = {Rule::fixed, number};
      return true;
    }
    const auto counter =
        std::find_if(before.begin(), before.end(),
                     [&](const FieldSchema& earlier) { return earlier.name == inside; });
    return counter != before.end() &&
           refer(field.in == InType::binary ? field.length : field.count, *counter);
  }

  bool refer(FieldSchema::Amount& amount, FieldSchema& counter) {
    if (counter.slot == 0) counter.slot = ++schema_.slots;
    amount = {Rule::slot, counter.slot};
    return true;
  }

  std::string_view name() {
    const auto size = std::min(text_.find_first_of(" :[]{}?="), text_.size());
    const auto found = text_.substr(0, size);
    text_.remove_prefix(size);
    return found;
  }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
  const FindValues& find_values_;
  EventSchema schema_;
};

}  // namespace

std::optional<EventSchema> parse_event_layout(std::string_view layout,
                                              const FindValues& find_values) {
  return LayoutParser{layout, find_values}.parse();
}

}  // namespace coldtrace::tracefile
