#include "coldtrace/tracefile/messages/event_message.hpp"

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t room_per_byte = 4;
constexpr std::size_t least_room = 4096;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number of an insert, and behind it where its text ends: "%12!s!" has a format, which says
// what the value's type says better.
std::size_t read_insert(std::string_view message, std::size_t& at) {
  std::size_t number = 0;
  for (int digits = 0; digits < 2 && at < message.size() && is_digit(message[at]); ++digits)
    number = number * 10 + static_cast<std::size_t>(message[at++] - '0');
  if (at < message.size() && message[at] == '!')
    if (const auto end = message.find('!', at + 1); end != std::string_view::npos) at = end + 1;
  return number;
}

// What '%' and a letter stand for; of other characters, themselves.
char to_character(char kind) {
  switch (kind) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return ' ';
    default:
      return kind;
  }
}

}  // namespace

std::string EventMessage::make(const EventSchema& schema, const Event& event) {
  cut_ = false;
  if (schema.message.empty()) return {};
  values_.clear();
  arguments_.clear();
  depth_ = 0;
  is_trace_message_ = schema.trace_message != nullptr;
  decode_fields(schema, event.payload, event.pointer_size, *this);
  const auto room = least_room + room_per_byte * (schema.message.size() + event.payload.size());
  if (is_trace_message_) return fill_trace_message(schema, event, room);
  return with_parameters(fill(schema.message, room), room);
}

void EventMessage::begin(const FieldSchema&) {
  if (depth_++ == 0) values_.emplace_back();
}

void EventMessage::value(const FieldSchema& field, const Value& value) {
  if (is_trace_message_) {
    arguments_.emplace_back(&field, value);
    return;
  }
  if (depth_ == 0) {
    values_.push_back(to_text(field, value));
    return;
  }
  auto& whole = values_.back();
  if (!whole.empty()) whole += ", ";
  whole += to_text(field, value);
}

std::string EventMessage::to_text(const FieldSchema& field, const Value& value) {
  if (field.map && value.out != OutType::encrypted)
    if (auto names = find_mapped_names(*field.map, value); !names.empty()) return names;
  return texts_.plain(value);
}

std::string EventMessage::with_parameters(std::string text, std::size_t room) {
  constexpr std::size_t most_digits = 10;
  if (parameters_ == nullptr) return text;
  for (auto at = text.find("%%"); at != std::string::npos; at = text.find("%%", at)) {
    auto end = at + 2;
    u64 id = 0;
    for (; end < text.size() && end - at - 2 < most_digits && is_digit(text[end]); ++end)
      id = id * 10 + static_cast<u64>(text[end] - '0');
    const auto found =
        end > at + 2 && id <= ~u32{0} ? parameters_->find(static_cast<u32>(id)) : std::string{};
    if (found.empty()) {
      at = end > at + 2 ? end : at + 1;
      continue;
    }
    if (text.size() + found.size() > room) {
      cut_ = true;
      return text;
    }
    text.replace(at, end - at, found);
    at += found.size();
  }
  return text;
}

std::string EventMessage::fill(std::string_view message, std::size_t room) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const char c = message[at++];
    if (c != '%' || at == message.size()) {
      text += c;
      continue;
    }
    if (is_digit(message[at]) && message[at] != '0') {
      const auto start = at;
      const auto number = read_insert(message, at);
      const auto insert = number <= values_.size() ? std::string_view{values_[number - 1]}
                                                   : message.substr(start - 1, at - start + 1);
      cut_ = text.size() + insert.size() + (message.size() - at) > room;
      if (cut_) return text;
      text += insert;
      continue;
    }
    const char kind = message[at++];
    if (kind == '0') return text;
    text += to_character(kind);
  }
  return text;
}

}  // namespace coldtrace::tracefile
