#include "cli/command/text_options.hpp"

#include "cli/output/output.hpp"
#include "cli/output/pager.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {

void add_text_time_options(Command& command, TextOptions& options) {
  auto utc_offset =
      command.add_option("--utc-offset", options.utc_offset,
                         "Text: show times at this UTC offset, e.g. +05:30 or -08:00");
  utc_offset.check("HH:MM", [](const std::string& text) {
    return text.empty() ? "an empty text is no UTC offset" : "";
  });
  command.add_flag("--local", options.local, "Text: show times in this machine's time zone")
      .excludes(utc_offset);
}

void add_text_size_option(Command& command, TextOptions& options) {
  command
      .add_flag("--human", options.human, "Text: show sizes in KiB, MiB and GiB, as on a terminal")
      .for_formats({"text"});
}

void add_pager_option(Command& command, TextOptions& options) {
  command.add_flag("--pager", options.pager,
                   "Text on a terminal: page by page, through $PAGER or less");
}

void begin_text(const TextOptions& options, const std::string& format,
                const OutputOptions& output) {
  const bool is_text = format == "text";
  if ((!options.utc_offset.empty() || options.local) && !is_text)
    throw Failure{"--utc-offset and --local are for --format text: other formats are in UTC"};
  if (options.human || is_shown_on_terminal(output)) use_size_units();
  if (options.local) use_local_time();
  if (!options.utc_offset.empty() && !use_utc_offset(options.utc_offset))
    throw Failure{"--utc-offset: '" + options.utc_offset +
                  "' is not a UTC offset such as +05:30 or -08:00, up to 14 hours"};
  if (options.pager && is_text && output.is_standard()) start_pager();
}

}  // namespace coldtrace::cli
