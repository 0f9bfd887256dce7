#pragma once

#include <optional>
#include <string>
#include <vector>

namespace coldtrace::core {

// A disk image is often kept in parts: image.001 and image.002, or image.aa and image.ab, as split
// makes them. Files are parts of one image where their names differ in an extension of digits, or
// of letters, of one length, and it is one that counts parts: three digits, a leading zero, or the
// first part is beside. Years and other extensions count up as well. A path means what lies beside
// it and beside the file that its links lead to.

// True for an extension, with its dot, that the first part of an image has: .001, .00, .aa.
[[nodiscard]] bool is_first_part(const std::string& extension);

// A file that a split image has or should have.
struct SplitPart {
  std::string path;
  bool there;
};

// The image's parts in their order, from the first to the last that is there, with those between
// that are missing, up to 32 in a row. Only `path` where it is not a part, or no other is there.
[[nodiscard]] std::vector<SplitPart> list_parts(const std::string& path);

// The file whose name goes on where the length does not suffice: .1000 behind .999, and what split
// makes, .9000 behind .89 and .zaaa behind .yz.
// Source: coreutils 9.1, "split invocation", --suffix-length.
[[nodiscard]] std::optional<std::string> find_longer_part(const std::string& last);

// Whether `other`, by any of its names, is another part of the image that `path` is a part of.
[[nodiscard]] bool is_part_beside(const std::string& path, const std::string& other);

// Whether the names alone allow it, whatever the extension counts: image.10 and image.11.
[[nodiscard]] bool is_named_as_part_beside(const std::string& path, const std::string& other);

// Whether `other` has the name of a segment beside this one of an EWF image: E01 to E99, then EAA,
// Ex01, L01, s01 and so on (libewf documentation, "Segment file names").
[[nodiscard]] bool is_named_as_segment_beside(const std::string& path, const std::string& other);

// The nearest part that is missing: between this one and that beside it, or else before it.
[[nodiscard]] std::optional<std::string> find_missing_part(const std::string& path);

// The name that the part behind this one would have; nothing behind .999 or .zz.
[[nodiscard]] std::optional<std::string> next_part(const std::string& path);

}  // namespace coldtrace::core
