#pragma once

#include <string>

#include "cli/command/options.hpp"

namespace coldtrace::cli {

struct OutputOptions;

// How text for people is shown: in a pager, with which units and in which time zone.
struct TextOptions {
  bool pager = false;
  bool human = false;
  bool local = false;
  std::string utc_offset;  // "+02:00"; empty: none
};

// --utc-offset and --local, for commands whose text has times by text_time().
void add_text_time_options(Command& command, TextOptions& options);

// --human, for commands whose text has sizes by text_size().
void add_text_size_option(Command& command, TextOptions& options);

// --pager, for commands with text.
void add_pager_option(Command& command, TextOptions& options);

// Before a run whose results are in `format`: throws Failure if that format has no use for the
// options; sets the units of text_size() and the zone of text_time(); starts the pager.
void begin_text(const TextOptions& options, const std::string& format, const OutputOptions& output);

}  // namespace coldtrace::cli
