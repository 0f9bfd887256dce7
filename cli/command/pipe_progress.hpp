#pragma once

#include "cli/output/output.hpp"
#include "cli/output/terminal_progress.hpp"

namespace coldtrace::cli {

// Progress of reading a pipe: "reading a pipe 1.2 GiB, 118.0 MiB/s". Shows nothing before show().
class PipeProgress final {
 public:
  PipeProgress() : progress_{shown().output, shown().quiet} {
    progress_.begin("reading a pipe", "", 0);
  }

  // The run shows it, with results that go to `output`.
  static void show(const OutputOptions& output, bool quiet) { shown() = {output, quiet}; }

  core::Progress* hook() { return progress_.hook(); }

 private:
  struct Shown {
    OutputOptions output;
    bool quiet = true;
  };

  static Shown& shown() {
    static Shown run;
    return run;
  }

  TerminalProgress progress_;
};

}  // namespace coldtrace::cli
