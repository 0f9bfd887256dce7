#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// Changes that are on the disk when a call returns, so that neither a kill nor a power loss undoes
// them. All throw Failure.

// Creates a folder and missing parents. Anything of that name that is not a folder, or is a link,
// is refused.
void make_folders(const std::string& path);

// Creates or replaces a file as a whole: it is written under the name `temporary`.
void write_file_durably(const std::string& path, const std::string& temporary,
                        std::string_view text);

// Appends to an existing file.
void append_durably(const std::string& path, std::string_view text);

// Renames a file that is on the disk. Fails if the new name exists, unless `replace`.
void rename_durably(const std::string& from, const std::string& to, bool replace);

// A missing file is not an error.
void remove_durably(const std::string& path);

}  // namespace coldtrace::cli
