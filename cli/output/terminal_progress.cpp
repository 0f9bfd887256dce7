#include "cli/output/terminal_progress.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output/messages.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto first_after = 500ms;  // a run that is done by then says nothing
constexpr auto between = 200ms;

std::string left_text(double seconds) {
  const auto left = static_cast<u64>(std::clamp(seconds, 0.0, 359'999.0)) + 1;
  if (left < 100) return fmt::format("{} s left", left);
  if (left < 6'000) return fmt::format("{} min left", (left + 59) / 60);
  return fmt::format("{} h left", (left + 3'599) / 3'600);
}

// One that leaves the last column free, so that no terminal breaks it: without the parts before the
// last one that have no room.
std::string fitting_line(const std::string& what, std::vector<std::string> parts,
                         std::size_t columns) {
  const auto room = columns - std::min<std::size_t>(columns, 1);
  for (;;) {
    auto line = fmt::format("{} {}", what, fmt::join(parts, ", "));
    if (core::display_width(line) <= room) return line;
    if (parts.size() < 2) return std::string{core::fitting_front(line, room)};
    parts.erase(parts.end() - (parts.size() > 2 ? 2 : 1));
  }
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
    parts = {fmt::format("{} %", done * 100 / total_),
             fmt::format("{} of {}", size_text(done), size_text(total_))};
  else if (bytes_ > 0)
    parts = {size_text(bytes_)};
  if (!parts.empty())
    parts.push_back(size_text(static_cast<u64>(static_cast<double>(bytes_) / passed.count())) +
                    "/s");
  if (!items_.empty()) parts.push_back(grouped(count_) + " " + items_);
  if (done > 0 && done < total_)
    parts.push_back(
        left_text(passed.count() * static_cast<double>(total_ - done) / static_cast<double>(done)));
  say_for_now(fitting_line(what_, std::move(parts), message_columns()));
}

}  // namespace coldtrace::cli
