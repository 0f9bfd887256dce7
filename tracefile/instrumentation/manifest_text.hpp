#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/marked_text.hpp"

namespace coldtrace::tracefile {

// The text of a manifest as XML tells encodings: by a byte order mark, by how "<" or a blank is
// stored, otherwise by what it declares. UTF-8 where that is none of those that are read.
// Source: W3C, "Extensible Markup Language (XML) 1.0", appendix F.
core::MarkedText decode_manifest(core::ByteView bytes);

// References by number to what is no character, which pugixml follows: surrogates ("&#xD800;"), 0
// and numbers beyond U+10FFFF.
struct FalseReferences {
  u64 count = 0;
  std::size_t first = 0;  // byte of the text
  std::string without;    // the text with U+FFFD for each, if there are any
};
FalseReferences find_false_references(std::string_view xml);

}  // namespace coldtrace::tracefile
