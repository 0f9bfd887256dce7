#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace coldtrace::ntfs
