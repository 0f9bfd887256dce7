#include "coldtrace/signatures/signature_printer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

// Behind this column a line of a pattern ends.
constexpr std::size_t line_width = 92;

std::string_view name_of(pe::Machine machine) {
  switch (machine) {
    case pe::Machine::i386:
      return "x86";
    case pe::Machine::amd64:
      return "x64";
    case pe::Machine::armnt:
      return "arm32";
    default:
      return "arm64";
  }
}

std::string to_text(const VersionPrefix& version) {
  const auto* const numbers = version.numbers.data();
  return fmt::format("{}", fmt::join(numbers, numbers + version.count, "."));
}

std::string to_text(const VersionRange& versions) {
  const auto first = to_text(versions.first), last = to_text(versions.last);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

// Whether the name is read without quotes.
bool is_word(std::string_view name, std::string_view others) {
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  };
  const bool digit_first = !name.empty() && name[0] >= '0' && name[0] <= '9';
  return !name.empty() && !digit_first && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

std::string to_text(const Anchor& anchor) {
  const auto symbol = is_word(anchor.name, "?@$") ? anchor.name : in_quotes(anchor.name);
  switch (anchor.kind) {
    case Anchor::Kind::section:
      return "section " + in_quotes(anchor.name);
    case Anchor::Kind::function:
      return "function";
    case Anchor::Kind::called_from:
      return fmt::format("called from {} within {:#x}", symbol, anchor.distance);
    case Anchor::Kind::within:
      return fmt::format("within {:#x} of {}", anchor.distance, symbol);
  }
  return {};
}

std::string to_hex(i64 number) {
  return number < 0 ? fmt::format("-{:#x}", u64{0} - static_cast<u64>(number))
                    : fmt::format("{:#x}", number);
}

std::string to_text(const CaptureConstraint& constraint) {
  using Kind = CaptureConstraint::Kind;
  const auto first = to_hex(constraint.first);
  switch (constraint.kind) {
    case Kind::equal:
      return "== " + first;
    case Kind::not_equal:
      return "!= " + first;
    case Kind::less:
      return "< " + first;
    case Kind::at_most:
      return "<= " + first;
    case Kind::greater:
      return "> " + first;
    case Kind::at_least:
      return ">= " + first;
    case Kind::range:
      return fmt::format("in {} to {}", first, to_hex(constraint.last));
    case Kind::aligned:
      return "aligned " + first;
  }
  return {};
}

char to_digit(unsigned value, unsigned mask) {
  return (mask & 0xf) == 0 ? '?' : "0123456789ABCDEF"[value & 0xf];
}

void add_words(const PatternSequence& sequence, const std::vector<CaptureField>& captures,
               std::vector<std::string>& words) {
  using Kind = PatternElement::Kind;
  for (const auto& element : sequence) {
    switch (element.kind) {
      case Kind::byte:
        words.push_back({to_digit(element.value >> 4u, element.mask >> 4u),
                         to_digit(element.value, element.mask)});
        break;
      case Kind::gap:
        words.push_back(element.shortest == element.longest
                            ? fmt::format("[{}]", element.shortest)
                            : fmt::format("[{} to {}]", element.shortest, element.longest));
        break;
      case Kind::capture: {
        const auto& capture = captures[element.capture];
        words.push_back(fmt::format("<{}:{}>", capture.name, to_string(capture.type)));
        break;
      }
      case Kind::reference:
        words.push_back("=" + captures[element.capture].name);
        break;
      case Kind::mark:
        words.emplace_back("@");
        break;
      case Kind::alternatives:
        for (std::size_t index = 0; index < element.alternatives.size(); ++index) {
          words.emplace_back(index == 0 ? "(" : "|");
          add_words(element.alternatives[index], captures, words);
        }
        words.emplace_back(")");
        break;
    }
  }
}

}  // namespace

std::string to_text(const PatternSequence& sequence, const std::vector<CaptureField>& captures) {
  std::vector<std::string> words;
  add_words(sequence, captures, words);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string to_text(const Signature& signature) {
  const auto function =
      is_word(signature.function, "-.") ? signature.function : in_quotes(signature.function);
  auto text = fmt::format("signature {} of {} {{\n  machine {};\n", signature.id, function,
                          name_of(signature.machine));
  if (signature.versions) text += fmt::format("  version {};\n", to_text(*signature.versions));
  text += fmt::format("  source {}, {};\n", in_quotes(signature.source),
                      signature.verified ? "verified" : "unverified");
  for (const auto& anchor : signature.anchors)
    text += fmt::format("  anchor {};\n", to_text(anchor));
  std::vector<std::string> words;
  add_words(signature.pattern, signature.captures, words);
  std::string line = "  bytes";
  for (const auto& word : words) {
    if (line.size() + 1 + word.size() > line_width) {
      text += line + "\n";
      line = "       ";
    }
    line += " " + word;
  }
  text += line + ";\n";
  for (const auto& constraint : signature.constraints)
    text += fmt::format("  where {} {};\n", signature.captures[constraint.capture].name,
                        to_text(constraint));
  return text + "}\n";
}

}  // namespace coldtrace::syscall_map
