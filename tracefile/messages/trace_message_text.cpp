#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/tracefile/messages/event_message.hpp"

namespace coldtrace::tracefile {
namespace {

// Where the text of an argument may refer to it; what is smaller is of the standard prefix.
constexpr std::size_t first_argument = 10;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "!spec!" at `at`, if it is there.
std::optional<std::string_view> read_between_marks(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '!') return std::nullopt;
  const auto end = text.find('!', at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto between = text.substr(at + 1, end - at - 1);
  at = end + 1;
  return between;
}

template <class T>
std::string text_of(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : std::string{};
}

}  // namespace

std::string EventMessage::fill_trace_message(const EventSchema& schema, const Event& event,
                                             std::size_t room) {
  const std::string_view message = schema.message;
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    if (message[at] != '%') {
      text += message[at++];
      continue;
    }
    const auto start = at++;
    const auto part = expand(schema, event, message, at);
    if (!part) at = std::max(at, start + 1);
    const auto shown = part ? std::string_view{*part} : message.substr(start, at - start);
    cut_ = text.size() + shown.size() + (message.size() - at) > room;
    if (cut_) return text;
    text += shown;
  }
  return text;
}

std::optional<std::string> EventMessage::expand(const EventSchema& schema, const Event& event,
                                                std::string_view text, std::size_t& at) {
  const auto& message = *schema.trace_message;
  if (at == text.size()) return std::nullopt;
  if (text[at] == '%') {
    ++at;
    return "%";
  }
  if (const auto name = read_between_marks(text, at)) {
    if (*name == "FUNC") return message.function;
    if (*name == "LEVEL") return message.level;
    if (*name == "FLAGS") return message.flags;
    if (*name == "STDPREFIX") return std::string{};
    return std::nullopt;
  }
  std::size_t number = 0;
  const auto digits = at;
  for (; at < text.size() && at < digits + 5 && is_digit(text[at]); ++at)
    number = number * 10 + static_cast<std::size_t>(text[at] - '0');
  if (at == digits) return std::nullopt;
  // %0 is the standard prefix, which the members of the event say.
  if (number == 0) return std::string{};
  const auto conversion = read_between_marks(text, at);
  if (number < first_argument) return prefix_field(message, event, number);
  for (std::size_t i = 0; i < arguments_.size() && i < message.arguments.size(); ++i)
    if (message.arguments[i].number == number)
      return format_argument(*arguments_[i].first, arguments_[i].second, message.arguments[i].item,
                             Conversion::parse(conversion.value_or("s")), texts_);
  return std::nullopt;
}

// Source: the prefix that TRACE_FORMAT_PREFIX of tracefmt is made of.
std::optional<std::string> EventMessage::prefix_field(const TraceMessage& message,
                                                      const Event& event,
                                                      std::size_t number) const {
  switch (number) {
    case 1:
      return message.component;
    case 2:
      return message.tag;
    case 3:
      return text_of(event.tid);
    case 4:
      if (event.file_time != 0) return core::to_string(core::FileTime{event.file_time});
      if (const auto time = event.has_time ? clock_.find_file_time(event.timestamp) : std::nullopt)
        return core::to_string(*time);
      return std::string{};
    case 5:
      return text_of(event.kernel_time);
    case 6:
      return text_of(event.user_time);
    case 8:
      return text_of(event.pid);
    case 9:
      return text_of(event.cpu);
    default:
      return std::nullopt;
  }
}

}  // namespace coldtrace::tracefile
