#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// What is on the disk when a call returns, so that neither a kill nor a loss of power takes it
// back. All throw Failure.

// A folder, and those above it that are not there. What is not a folder of that name, or a link, is
// refused.
void make_folders(const std::string& path);

// A file of this name, whole: it is written with `temporary` for its name.
void write_file_durably(const std::string& path, const std::string& temporary,
                        std::string_view text);

// Behind the end of a file that is there.
void append_durably(const std::string& path, std::string_view text);

// Gives a file that is on the disk another name. Where a file has it and `replace` is false, this
// fails.
void rename_durably(const std::string& from, const std::string& to, bool replace);

// A file that is not there is no error.
void remove_durably(const std::string& path);

}  // namespace coldtrace::cli
