#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/error.hpp"

namespace coldtrace::ntfs {

// A file that another one names. Names inside images are never followed: what counts of one is its
// last part, behind '/' and '\', and the file of that name beside the image.
std::string file_name_of(std::string_view stated);

// That file, where it is a regular one and no link.
std::optional<std::string> find_beside(const std::string& image, std::string_view stated);

// Whether both paths lead to one file that is there.
bool is_same_file(const std::string& one, const std::string& other);

// What is said of a file with data that is not beside the image.
std::string describe_missing_extent(std::string_view stated);

// What is said of one that is and cannot be read.
std::string describe_unread_extent(std::string_view stated, const core::ParseError& error);

// Of a file that cannot be opened what the operating system says, else where and what is wrong.
std::string reason_of(const core::ParseError& error);

}  // namespace coldtrace::ntfs
