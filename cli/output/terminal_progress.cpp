#include "cli/output/terminal_progress.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output/messages.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto first_after = 500ms;  // a run that is done by then says nothing
constexpr auto between = 200ms;

// With commas between thousands.
std::string count_text(u64 count) {
  auto text = fmt::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string left_text(double seconds) {
  const auto left = static_cast<u64>(std::clamp(seconds, 0.0, 359'999.0)) + 1;
  if (left < 100) return fmt::format("{} s left", left);
  if (left < 6'000) return fmt::format("{} min left", (left + 59) / 60);
  return fmt::format("{} h left", (left + 3'599) / 3'600);
}

bool is_shown(const OutputOptions& output, bool quiet) {
  return !quiet && ::isatty(STDERR_FILENO) == 1 && !is_shown_on_terminal(output);
}

}  // namespace

TerminalProgress::TerminalProgress(const OutputOptions& output, bool quiet)
    : shown_{is_shown(output, quiet)} {}

TerminalProgress::~TerminalProgress() {
  say({});
}

void TerminalProgress::begin(std::string what, std::string items, u64 bytes) {
  what_ = std::move(what);
  items_ = std::move(items);
  total_ = bytes;
  bytes_ = 0;
  count_ = 0;
  begun_ = Clock::now();
  last_ = begun_ + first_after - between;
}

void TerminalProgress::add(u64 bytes, u64 items) {
  bytes_ += bytes;
  count_ += items;
  const auto now = Clock::now();
  if (!shown_ || now - last_ < between) return;
  last_ = now;
  show(now);
}

void TerminalProgress::show(Clock::time_point now) const {
  const auto done = std::min(bytes_, total_);
  const std::chrono::duration<double> passed = now - begun_;
  std::vector<std::string> parts;
  if (total_ > 0)
    parts.push_back(
        fmt::format("{} %, {} of {}", done * 100 / total_, size_text(done), size_text(total_)));
  else if (bytes_ > 0)
    parts.push_back(size_text(bytes_));
  if (!parts.empty())
    parts.push_back(size_text(static_cast<u64>(static_cast<double>(bytes_) / passed.count())) +
                    "/s");
  if (!items_.empty()) parts.push_back(count_text(count_) + " " + items_);
  if (done > 0 && done < total_)
    parts.push_back(
        left_text(passed.count() * static_cast<double>(total_ - done) / static_cast<double>(done)));
  say_for_now(fmt::format("{} {}", what_, fmt::join(parts, ", ")));
}

}  // namespace coldtrace::cli
