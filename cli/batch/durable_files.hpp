#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// What these functions write is on the disk when they return, so that neither a kill nor a power
// failure undoes it. All throw Failure.

// Creates a folder and the missing ones above it. Anything of that name that is not a folder, or is
// a link, is refused.
void make_folders(const std::string& path);

// Writes a complete file of this name, under the name `temporary` until it is complete.
void write_file_durably(const std::string& path, const std::string& temporary,
                        std::string_view text);

// Appends to an existing file.
void append_durably(const std::string& path, std::string_view text);

// Renames a file that is on the disk. If a file has the new name and `replace` is false, this
// fails.
void rename_durably(const std::string& from, const std::string& to, bool replace);

// A missing file is not an error.
void remove_durably(const std::string& path);

}  // namespace coldtrace::cli
