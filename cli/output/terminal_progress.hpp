#pragma once

#include <chrono>
#include <string>

#include "coldtrace/core/progress.hpp"

namespace coldtrace::cli {

struct OutputOptions;

// The progress of a run, on one line of the terminal on standard error: "decoding 45 %, 1.2 GiB of
// 2.6 GiB, 118.0 MiB/s, 3,200,000 events, 12 s left". Nothing if that is not a terminal, with
// --quiet, or if the results go to a terminal. Messages erase it.
class TerminalProgress final : public core::Progress {
 public:
  TerminalProgress(const OutputOptions& output, bool quiet);
  ~TerminalProgress() override;

  // `what` is being done to so many `bytes`, 0 if not known; `items` is what else is counted.
  void begin(std::string what, std::string items, u64 bytes);
  void add(u64 bytes, u64 items) override;

  // Null if nothing is shown: the work is then not slowed.
  core::Progress* hook() { return shown_ ? this : nullptr; }

 private:
  using Clock = std::chrono::steady_clock;

  void show(Clock::time_point now) const;

  bool shown_;
  std::string what_, items_;
  u64 total_ = 0;
  u64 bytes_ = 0;
  u64 count_ = 0;
  Clock::time_point begun_, last_;
};

}  // namespace coldtrace::cli
