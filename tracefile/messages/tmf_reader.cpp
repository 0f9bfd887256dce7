#include "tracefile/messages/tmf_reader.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace coldtrace::tracefile {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t guid_characters = 36;
// Of one format: WPP's own macros have no more than some dozens.
constexpr std::size_t most_arguments = 256;

std::string_view trim(std::string_view text) {
  const auto start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const auto end = std::min(text.find_first_of(blanks), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// A number as C writes it, decimal or with 0x.
std::optional<u64> read_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  u64 number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return negative ? ~number + 1 : number;
}

bool is_mark_character(char c) {
  return (c >= 'A' && c <= 'Z') || c == '_';
}

// Where " NAME=" begins next, or the end.
std::size_t find_next_mark(std::string_view comment) {
  for (auto at = comment.find(' '); at != std::string_view::npos; at = comment.find(' ', at + 1)) {
    auto end = at + 1;
    while (end < comment.size() && is_mark_character(comment[end])) ++end;
    if (end > at + 1 && end < comment.size() && comment[end] == '=') return at;
  }
  return comment.size();
}

// What a comment has behind the first "NAME=" that `is_it` takes by name, with the sign, and value:
// components have marks of their own beside WPP's.
template <class IsIt>
std::string_view find_mark_if(std::string_view comment, IsIt&& is_it) {
  while (true) {
    comment.remove_prefix(find_next_mark(comment));
    if (comment.empty()) return {};
    comment.remove_prefix(1);
    const auto name = comment.substr(0, comment.find('=') + 1);
    comment.remove_prefix(name.size());
    const auto value = trim(comment.substr(0, find_next_mark(comment)));
    if (is_it(name, value)) return value;
  }
}

std::string_view find_mark(std::string_view comment, std::string_view wanted) {
  return find_mark_if(comment,
                      [&](std::string_view name, std::string_view) { return name == wanted; });
}

std::string_view comment_of(std::string_view text) {
  const auto at = text.find("//");
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + 2);
}

class TmfReader {
 public:
  TmfReader(std::string_view text, const core::MarkedText* file, char separator,
            const std::set<std::string, std::less<>>& flags, core::Findings& findings)
      : text_{text}, file_{file}, separator_{separator}, flags_{flags}, findings_{findings} {}

  TmfText read() {
    while (next_line()) {
      if (line_.empty() || line_.starts_with("//")) continue;
      if (line_.starts_with("#enumv"))
        read_enumeration();
      else if (line_.starts_with("#type"))
        read_format();
      else if (!read_guid() && !is_frame(line_))
        tell("not a line of a TMF text");
    }
    return std::move(read_);
  }

 private:
  // What frames the records of PDBs.
  static bool is_frame(std::string_view line) {
    return line == "TMF:" || line == "PUBLIC_TMF:" || line == "{" || line == "}";
  }

  bool next_line() {
    if (at_ >= text_.size()) return false;
    start_ = at_;
    const auto end = std::min(text_.find(separator_, at_), text_.size());
    line_ = trim(text_.substr(at_, end - at_));
    at_ = end + 1;
    return true;
  }

  void tell(std::string_view what) {
    // Of the first alone it is shown.
    if (!first_told_) first_told_ = file_ != nullptr ? file_->offset_of(start_) : start_;
    findings_.warning("schema-damaged", first_told_, "{}: {}", what, line_.substr(0, 80));
  }

  // "GUID component // SRC=file MJ= MN="
  bool read_guid() {
    const auto guid = core::parse_guid(line_.substr(0, guid_characters));
    if (!guid) return false;
    guid_ = *guid;
    auto rest = line_.substr(guid_characters);
    source_file_ = find_mark(comment_of(rest), "SRC=");
    component_ = take_word(rest);
    if (component_.starts_with("//")) component_ = {};
    return true;
  }

  // A text may have lines of its own.
  void extend_text() {
    constexpr int most_lines = 64;
    for (int i = 0; i < most_lines && line_.find("\" //") == std::string_view::npos; ++i) {
      const auto begin = static_cast<std::size_t>(line_.data() - text_.data());
      const auto before = at_;
      const auto start = start_;
      const auto line = line_;
      if (next_line() && line_ != "{" && !line_.starts_with('#')) {
        line_ = trim(text_.substr(begin, at_ - 1 - begin));
        start_ = start;
        continue;
      }
      at_ = before;
      start_ = start;
      line_ = line;
      return;
    }
  }

  // "#typev tag number "text" // LEVEL= FLAGS= FUNC=", and its arguments.
  void read_format() {
    extend_text();
    auto rest = line_;
    take_word(rest);
    TmfFormat format{};
    format.tag = take_word(rest);
    const auto number = read_number(take_word(rest));
    rest = trim(rest);
    const auto comment_at = find_comment(rest);
    const auto text = trim(rest.substr(0, comment_at));
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    if (!guid_ || !number || *number > 0xffff || !quoted) {
      tell("a format without GUID, number or text");
      skip_block();
      return;
    }
    format.guid = *guid_;
    format.component = component_;
    format.source_file = source_file_;
    format.number = static_cast<unsigned>(*number);
    format.text = text.substr(1, text.size() - 2);
    const auto comment = rest.substr(comment_at);
    format.level = find_mark(comment, "LEVEL=");
    format.flags = find_flags(comment);
    format.function = find_mark(comment, "FUNC=");
    read_arguments(format);
    read_.formats.push_back(std::move(format));
  }

  std::string_view find_flags(std::string_view comment) const {
    for (const auto* const name : {"FLAGS=", "FLAG="})
      if (const auto flags = find_mark(comment, name); !flags.empty()) return flags;
    return find_mark_if(comment, [&](std::string_view name, std::string_view value) {
      return name != "FUNC=" && flags_.contains(value);
    });
  }

  // Behind the last quotation mark, since the text may have slashes and quotation marks.
  static std::size_t find_comment(std::string_view text) {
    const auto end = text.rfind("\" //");
    if (end != std::string_view::npos) return end + 1;
    return std::min(text.rfind('"'), text.size() - 1) + 1;
  }

  // A block may be missing, as that of a format without arguments.
  bool begin_block() {
    const auto before = at_;
    while (next_line())
      if (!line_.empty()) {
        if (line_ == "{") return true;
        break;
      }
    at_ = before;
    return false;
  }

  void skip_block() {
    if (!begin_block()) return;
    while (next_line() && line_ != "}") {
    }
  }

  void read_arguments(TmfFormat& format) {
    if (!begin_block()) return;
    while (next_line() && line_ != "}") {
      if (line_.empty()) continue;
      auto argument = read_argument(line_);
      if (!argument || format.arguments.size() == most_arguments) {
        tell("not an argument of a format");
        // What follows it in the message has no place.
        argument = TmfFormat::Argument{line_, {}, {}, 0};
      }
      if (format.arguments.size() < most_arguments) format.arguments.push_back(*argument);
    }
  }

  // "expression, ItemType(list) -- number", of which the expression is C with commas and dashes.
  static std::optional<TmfFormat::Argument> read_argument(std::string_view line) {
    const auto dashes = line.rfind(" -- ");
    if (dashes == std::string_view::npos) return std::nullopt;
    const auto number = read_number(trim(line.substr(dashes + 4)));
    const auto front = trim(line.substr(0, dashes));
    const auto comma = front.rfind(", Item");
    if (!number || *number > 0xffff || comma == std::string_view::npos) return std::nullopt;
    auto type = front.substr(comma + 2);
    std::string_view list;
    if (const auto open = type.find('('); open != std::string_view::npos) {
      list = type.substr(open + 1);
      if (list.ends_with(')')) list.remove_suffix(1);
      type = trim(type.substr(0, open));
    }
    return TmfFormat::Argument{trim(front.substr(0, comma)), type, list,
                               static_cast<unsigned>(*number)};
  }

  void read_enumeration() {
    auto rest = line_;
    take_word(rest);
    TmfEnumeration enumeration{take_word(rest), {}};
    if (enumeration.name.empty() || !begin_block()) {
      tell("an enumeration without name or values");
      return;
    }
    while (next_line() && line_ != "}") {
      const auto comma = line_.rfind(',');
      const auto number = comma == std::string_view::npos
                              ? std::nullopt
                              : read_number(trim(line_.substr(comma + 1)));
      if (number)
        enumeration.values.push_back({trim(line_.substr(0, comma)), *number});
      else if (!line_.empty())
        tell("not a value of an enumeration");
    }
    read_.enumerations.push_back(std::move(enumeration));
  }

  std::string_view text_;
  const core::MarkedText* file_;
  char separator_;
  const std::set<std::string, std::less<>>& flags_;
  core::Findings& findings_;
  std::size_t at_ = 0, start_ = 0;
  std::optional<u64> first_told_;
  std::string_view line_;
  std::optional<core::Guid> guid_;
  std::string_view component_, source_file_;
  TmfText read_;
};

}  // namespace

TmfText read_tmf(std::string_view text, const core::MarkedText* file, char separator,
                 const std::set<std::string, std::less<>>& flags, core::Findings& findings) {
  return TmfReader{text, file, separator, flags, findings}.read();
}

}  // namespace coldtrace::tracefile
