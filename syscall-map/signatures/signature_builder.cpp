#include "coldtrace/signatures/signature_builder.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/checked.hpp"

namespace coldtrace::syscall_map {
namespace {

using Kind = PatternElement::Kind;

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw SignatureBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

// Decimal or "0x" and hexadecimal, with a sign before.
i64 to_number(std::string_view token, i64 limit) {
  auto digits = token;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  u64 number = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, fault] = std::from_chars(digits.data(), end, number, hexadecimal ? 16 : 10);
  if (fault != std::errc{} || stop != end || number > u64(limit))
    refuse(token, "the number is larger than {:#x}", limit);
  return negative ? -static_cast<i64>(number) : static_cast<i64>(number);
}

u32 to_unsigned(std::string_view token, u32 limit) {
  if (token.starts_with('-')) refuse(token, "the number is negative");
  return static_cast<u32>(to_number(token, limit));
}

u8 to_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<u8>(c - '0');
  return static_cast<u8>(core::to_lower(c) - 'a' + 10);
}

std::string_view unquoted(std::string_view text) {
  return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

VersionPrefix to_version(std::string_view token) {
  VersionPrefix version;
  for (auto rest = token; !rest.empty();) {
    if (version.count == version.numbers.size()) refuse(token, "a version has at most 4 numbers");
    const auto length = std::min(rest.find('.'), rest.size());
    version.numbers[version.count++] = static_cast<u16>(to_number(rest.substr(0, length), 0xffff));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return version;
}

}  // namespace

void SignatureBuilder::begin(std::string_view id) {
  if (signatures_.size() == most_signatures) refuse(id, "more than {} signatures", most_signatures);
  for (const auto& other : signatures_)
    if (other.id == id) refuse(id, "there is already a signature '{}', in line {}", id, other.line);
  line_ += static_cast<u32>(std::count(counted_, id.data(), '\n'));
  counted_ = id.data();
  signatures_.emplace_back().id = id;
  current().line = line_;
  id_ = id;
  seen_.clear();
  marked_ = false;
  elements_ = 0;
}

void SignatureBuilder::set_function(std::string_view name) {
  current().function = unquoted(name);
  if (current().function.empty()) refuse(name, "the name is empty");
}

void SignatureBuilder::set_machine(std::string_view name) {
  static const std::map<std::string_view, pe::Machine> machines{{"x86", pe::Machine::i386},
                                                                {"x64", pe::Machine::amd64},
                                                                {"arm32", pe::Machine::armnt},
                                                                {"arm64", pe::Machine::arm64}};
  if (current().machine != pe::Machine::unknown) refuse(name, "a second machine");
  const auto found = machines.find(name);
  if (found == machines.end()) refuse(name, "the machine must be x86, x64, arm32 or arm64");
  current().machine = found->second;
}

void SignatureBuilder::set_first_version(std::string_view version) {
  if (current().versions) refuse(version, "a second version");
  const auto only = to_version(version);
  current().versions = VersionRange{only, only};
}

void SignatureBuilder::set_last_version(std::string_view version) {
  auto& range = *current().versions;
  range.last = to_version(version);
  if (!range.contains(range.first.numbers)) refuse(version, "the range ends before it starts");
}

void SignatureBuilder::set_source(std::string_view quoted) {
  if (!current().source.empty()) refuse(quoted, "a second source");
  current().source = unquoted(quoted);
  if (current().source.empty()) refuse(quoted, "the source is empty");
}

void SignatureBuilder::set_verified(std::string_view word) {
  current().verified = word == "verified";
}

void SignatureBuilder::add_anchor(Anchor::Kind kind, std::string_view name) {
  if (current().anchors.size() == most_anchors) refuse(name, "more than {} anchors", most_anchors);
  current().anchors.push_back({kind, {}, kind == Anchor::Kind::called_from ? 0x200u : 0u});
  set_anchor_name(name);
}

void SignatureBuilder::set_anchor_name(std::string_view name) {
  current().anchors.back().name = unquoted(name);
}

void SignatureBuilder::set_distance(std::string_view number) {
  current().anchors.back().distance = to_unsigned(number, 0x7fff'ffff);
}

void SignatureBuilder::begin_pattern(std::string_view word) {
  if (!current().pattern.empty()) refuse(word, "a second pattern");
  pattern_at_ = word;
  open_.assign(1, {});
  choices_.clear();
}

PatternElement& SignatureBuilder::add(Kind kind, std::string_view at) {
  if (++elements_ > most_elements) refuse(at, "more than {} elements", most_elements);
  return open_.back().emplace_back(PatternElement{.kind = kind});
}

void SignatureBuilder::add_byte(std::string_view digits) {
  auto& element = add(Kind::byte, digits);
  for (const char c : digits.substr(0, 2)) {
    element.value = static_cast<u8>(element.value << 4 | (c == '?' ? 0 : to_digit(c)));
    element.mask = static_cast<u8>(element.mask << 4 | (c == '?' ? 0 : 0xf));
  }
}

void SignatureBuilder::add_gap(std::string_view number) {
  auto& element = add(Kind::gap, number);
  element.shortest = element.longest = to_unsigned(number, longest_gap);
}

void SignatureBuilder::set_longest(std::string_view number) {
  auto& element = open_.back().back();
  element.longest = to_unsigned(number, longest_gap);
  if (element.longest < element.shortest) refuse(number, "the gap ends before it starts");
}

void SignatureBuilder::add_capture(std::string_view name) {
  auto& captures = current().captures;
  for (const auto index : seen_)
    if (captures[index].name == name) refuse(name, "there is already a capture '{}'", name);
  // Another alternative may have it.
  const auto other = std::find_if(captures.begin(), captures.end(),
                                  [&](const CaptureField& field) { return field.name == name; });
  capture_ = static_cast<u32>(other - captures.begin());
  new_capture_ = other == captures.end();
  if (new_capture_) {
    if (captures.size() == most_captures) refuse(name, "more than {} captures", most_captures);
    captures.push_back({std::string{name}, CaptureType::u8});
  }
  add(Kind::capture, name).capture = capture_;
  seen_.push_back(capture_);
}

void SignatureBuilder::set_type(std::string_view name) {
  using enum CaptureType;
  for (const auto type : {CaptureType::u8, CaptureType::u16, CaptureType::u32, CaptureType::u64,
                          CaptureType::i8, CaptureType::i32, rel8, rel32})
    if (to_string(type) == name) {
      auto& capture = current().captures[capture_];
      if (!new_capture_ && capture.type != type)
        refuse(name, "'{}' is {} in another alternative", capture.name, to_string(capture.type));
      capture.type = type;
      return;
    }
  refuse(name, "the type must be u8, u16, u32, u64, i8, i32, rel8 or rel32");
}

u32 SignatureBuilder::find_capture(std::string_view name) {
  const auto& captures = current().captures;
  for (const auto index : seen_)
    if (captures[index].name == name) return index;
  refuse(name, "there is no capture '{}' before this", name);
}

void SignatureBuilder::add_reference(std::string_view name) {
  const auto capture = find_capture(name);
  add(Kind::reference, name).capture = capture;
}

void SignatureBuilder::add_mark(std::string_view sign) {
  if (!choices_.empty()) refuse(sign, "the mark cannot be an alternative");
  if (marked_) refuse(sign, "a second mark");
  marked_ = true;
  add(Kind::mark, sign);
}

void SignatureBuilder::open_alternatives(std::string_view sign) {
  if (choices_.size() == most_nesting)
    refuse(sign, "alternatives are nested deeper than {}", most_nesting);
  add(Kind::alternatives, sign);
  choices_.push_back({.sign = sign, .seen = seen_.size()});
  open_.emplace_back();
}

void SignatureBuilder::end_alternative(std::string_view sign) {
  auto& choice = choices_.back();
  choice.read.push_back(std::move(open_.back()));
  open_.back().clear();
  std::vector<u32> captures(seen_.begin() + static_cast<std::ptrdiff_t>(choice.seen), seen_.end());
  seen_.resize(choice.seen);
  std::sort(captures.begin(), captures.end());
  if (choice.captures && *choice.captures != captures)
    refuse(sign, "the alternatives do not all have the same captures");
  choice.captures = std::move(captures);
}

void SignatureBuilder::next_alternative(std::string_view sign) {
  if (choices_.back().read.size() + 1 == most_alternatives)
    refuse(sign, "more than {} alternatives", most_alternatives);
  end_alternative(sign);
}

void SignatureBuilder::close_alternatives(std::string_view sign) {
  end_alternative(sign);
  auto choice = std::move(choices_.back());
  choices_.pop_back();
  open_.pop_back();
  if (choice.read.size() == 1)
    refuse(choice.sign, "there is only one alternative: '|' must stand between two");
  seen_.insert(seen_.end(), choice.captures->begin(), choice.captures->end());
  open_.back().back().alternatives = std::move(choice.read);
}

void SignatureBuilder::end_pattern(std::string_view) {
  auto& signature = current();
  signature.pattern = std::move(open_.front());
  if (span_of(signature.pattern, signature.captures).longest > longest_pattern)
    refuse(pattern_at_, "the pattern can match more than {} bytes", longest_pattern);
  if (!find_window(signature.pattern, signature.captures))
    refuse(pattern_at_,
           "the pattern needs two whole bytes next to each other before its first stretch of "
           "variable length");
}

void SignatureBuilder::begin_constraint(std::string_view name) {
  if (current().constraints.size() == most_constraints)
    refuse(name, "more than {} conditions", most_constraints);
  const auto capture = find_capture(name);
  current().constraints.push_back({CaptureConstraint::Kind::equal, capture, 0, 0});
}

void SignatureBuilder::set_operator(CaptureConstraint::Kind kind) {
  current().constraints.back().kind = kind;
}

void SignatureBuilder::set_operand(std::string_view number) {
  auto& constraint = current().constraints.back();
  constraint.first = to_number(number, 0x7fff'ffff'ffff'ffff);
  if (constraint.kind == CaptureConstraint::Kind::aligned && constraint.first < 1)
    refuse(number, "an alignment must be at least 1");
}

void SignatureBuilder::set_last_operand(std::string_view number) {
  auto& constraint = current().constraints.back();
  constraint.last = to_number(number, 0x7fff'ffff'ffff'ffff);
  if (constraint.last < constraint.first) refuse(number, "the range ends before it starts");
}

void SignatureBuilder::end(std::string_view) {
  const auto& signature = current();
  if (signature.machine == pe::Machine::unknown) refuse(id_, "the signature has no machine");
  if (signature.source.empty()) refuse(id_, "the signature has no source");
  if (signature.pattern.empty()) refuse(id_, "the signature has no pattern");
}

}  // namespace coldtrace::syscall_map
