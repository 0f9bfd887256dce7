#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/error.hpp"

namespace coldtrace::ntfs {

// The name of a file that an image refers to. Paths inside images are never followed: only the last
// part counts, after '/' and '\', and the file of that name beside the image.
std::string file_name_of(std::string_view stated);

// That file, if it is a regular one and not a link.
std::optional<std::string> find_beside(const std::string& image, std::string_view stated);

// Whether both paths lead to the same existing file.
bool is_same_file(const std::string& one, const std::string& other);

// The sentence for a data file that is not beside the image.
std::string describe_missing_extent(std::string_view stated);

// The sentence for one that is, but cannot be read.
std::string describe_unread_extent(std::string_view stated, const core::ParseError& error);

// The operating system's message for a file that cannot be opened, else what is wrong, and where.
std::string reason_of(const core::ParseError& error);

}  // namespace coldtrace::ntfs
