#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The name of a resource or its type: a number, or UTF-16LE text of the file.
struct ResourceId {
  u32 number = 0;
  bool named = false;
  core::ByteView units;  // when named

  [[nodiscard]] bool is(u32 wanted) const { return !named && number == wanted; }
  // Names are compared in upper case, as the linker writes them.
  [[nodiscard]] bool is(std::string_view wanted) const;
};

// "16" or "WEVT_TEMPLATE", as exact text (coldtrace/core/utf16.hpp).
[[nodiscard]] std::string to_string(const ResourceId& id);

// Types with a number. Source: Windows SDK, RT_ constants.
inline constexpr u32 resource_message_table = 11;
inline constexpr u32 resource_version = 16;

// The name of a type with a number, such as "version"; empty for others.
[[nodiscard]] std::string_view resource_type_name(u32 type);

// A leaf of the resource tree.
struct Resource {
  ResourceId type;
  ResourceId name;
  u32 language = 0;  // LANGID
  u32 code_page = 0;
  Rva address{};
  u32 size = 0;               // as declared
  u64 stored = 0;             // number of its bytes in the file
  std::optional<u64> offset;  // in the file, if any are stored

  // The stored bytes. Walking the tree reads none of them: most are pictures.
  [[nodiscard]] core::ByteView content(const Image& image) const {
    return image.bytes(address, stored);
  }
};

// All resources, in the tree's order. Source: Microsoft, "PE Format", .rsrc section, of which
// Windows uses three levels: type, name, language. Loops, directories reached twice, other depths
// and ranges outside the file are findings; every entry of the file is read at most once, and at
// most 100,000 of them.
[[nodiscard]] std::vector<Resource> read_resources(const Image& image, core::Findings& findings);

// The resources of one type, by number or by name.
[[nodiscard]] std::vector<Resource> find_resources(const Image& image, u32 type,
                                                   core::Findings& findings);
[[nodiscard]] std::vector<Resource> find_resources(const Image& image, std::string_view type,
                                                   core::Findings& findings);

}  // namespace coldtrace::pe
