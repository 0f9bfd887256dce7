#pragma once

#include <optional>
#include <string>
#include <vector>

namespace coldtrace::core {

// A disk image is often kept in parts: image.001 and image.002, or image.aa and image.ab, as
// split(1) makes them. Files are parts of one image if their names differ only in an extension of
// digits, or of letters, of the same length, and the extension counts parts: it has three digits or
// a leading zero, or the first part is beside it. Years and other extensions count up as well. The
// parts are looked for beside a path and beside the file that its links lead to.

// True for an extension, with its dot, of the first part of an image: .001, .00, .aa.
[[nodiscard]] bool is_first_part(const std::string& extension);

// A file that a split image has or should have.
struct SplitPart {
  std::string path;
  bool there;
};

// The image's parts in order, from the first to the last that exists, including missing ones
// between them, up to 32 in a row. Only `path` if it is not a part, or the only one.
[[nodiscard]] std::vector<SplitPart> list_parts(const std::string& path);

// The file with the next name after the extension has run out of digits: .1000 after .999, and what
// split(1) makes, .9000 after .89 and .zaaa after .yz.
// Source: coreutils 9.1, "split invocation", --suffix-length.
[[nodiscard]] std::optional<std::string> find_longer_part(const std::string& last);

// Whether `other`, by any of its names, is another part of the same image as `path`.
[[nodiscard]] bool is_part_beside(const std::string& path, const std::string& other);

// Whether the names alone allow that, whatever the extension counts: image.10 and image.11.
[[nodiscard]] bool is_named_as_part_beside(const std::string& path, const std::string& other);

// Whether `other` is named as another segment, in the same folder, of the EWF image: E01 to E99,
// then EAA, Ex01, L01, s01 and so on (libewf documentation, "Segment file names").
[[nodiscard]] bool is_named_as_segment_beside(const std::string& path, const std::string& other);

// The nearest missing part: between this one and the next that exists, or else before this one.
[[nodiscard]] std::optional<std::string> find_missing_part(const std::string& path);

// The name that the next part would have; nothing after .999 or .zz.
[[nodiscard]] std::optional<std::string> next_part(const std::string& path);

}  // namespace coldtrace::core
