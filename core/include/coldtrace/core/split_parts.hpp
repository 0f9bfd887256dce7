#pragma once

#include <optional>
#include <string>

namespace coldtrace::core {

// A disk image is often kept in parts: image.001 and image.002, or image.aa and image.ab, as split
// makes them. Extensions come with their dot.

// True for an extension that the first part of an image has: .001, .00, .aa.
bool is_first_part(const std::string& extension);

// True for the extensions of two parts of one image. Letters count only beside the first part,
// since many extensions are letters.
bool are_parts_of_one_split(const std::string& extension, const std::string& other);

// The file of the part behind this one, or else of the one before it, where there is one.
std::optional<std::string> find_part_beside(const std::string& path);

// The name that the part behind this one would have; nothing behind .999 or .zz.
std::optional<std::string> next_part(const std::string& path);

}  // namespace coldtrace::core
