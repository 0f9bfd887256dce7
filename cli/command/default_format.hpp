#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

struct OutputOptions;

// Whether the command writes rows that programs read, and people too where they see them: its first
// format is "ndjson", and "text" is among the others.
bool writes_rows(const std::vector<std::string>& formats);

// The format that the end of a file's name stands for, before .gz or .zst: "files.csv.zst" is csv.
// Empty where it stands for none of `formats`.
std::string format_of_name(std::string_view path, const std::vector<std::string>& formats);

// The other way: an end of a name that stands for the format, its own where that does; else "." and
// its name.
std::string ending_of_format(const std::string& format);

// What --format is where it is not given: that of the output's name, which throws Failure where its
// end stands for a format of other commands; "text" of rows on a terminal; else the first one.
// `rows_as_text` is false where text would lack what was asked for.
std::string default_format(const std::vector<std::string>& formats, const OutputOptions& output,
                           bool rows_as_text);

}  // namespace coldtrace::cli
