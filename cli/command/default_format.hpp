#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

struct OutputOptions;

// Whether the command writes rows for programs, and also for people: its first format is "ndjson",
// and "text" is among the others.
bool writes_rows(const std::vector<std::string>& formats);

// The format for which the end of a file's name stands, before .gz or .zst: "files.csv.zst" is csv.
// Empty if it stands for none of `formats`.
std::string format_of_name(std::string_view path, const std::vector<std::string>& formats);

// The reverse: an end of a name that stands for the format, preferably its own; else "." and the
// format's name.
std::string ending_of_format(const std::string& format);

// The format when --format is not given: that of the output's name, with a Failure if its end
// stands for a format of other commands; "text" for rows on a terminal; else the first one.
// `rows_as_text` is false if text would lack something that was asked for.
std::string default_format(const std::vector<std::string>& formats, const OutputOptions& output,
                           bool rows_as_text);

}  // namespace coldtrace::cli
