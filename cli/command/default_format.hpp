#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

struct OutputOptions;

// Whether the command writes rows meant for programs, and for people on a terminal: its first
// format is "ndjson", and "text" is among the others.
bool writes_rows(const std::vector<std::string>& formats);

// The format that a file name's extension means, before .gz or .zst: "files.csv.zst" is csv. Empty
// if it means none of `formats`.
std::string format_of_name(std::string_view path, const std::vector<std::string>& formats);

// The reverse: an extension that means the format, its own if there is one, otherwise "." and the
// format's name.
std::string ending_of_format(const std::string& format);

// The format if --format is not given: that of the output's name (throws Failure if the extension
// means a format of other commands); "text" for rows on a terminal; otherwise the first one.
// `rows_as_text` is false if text would lack something that was asked for.
std::string default_format(const std::vector<std::string>& formats, const OutputOptions& output,
                           bool rows_as_text);

}  // namespace coldtrace::cli
