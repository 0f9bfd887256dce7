#pragma once

#include "coldtrace/core/marked_text.hpp"

namespace coldtrace::tracefile {

// The text of a manifest as XML tells encodings: by a byte order mark, by how "<" or a blank is
// stored, otherwise by what it declares. UTF-8 where that is none of those that are read.
// Source: W3C, "Extensible Markup Language (XML) 1.0", appendix F.
core::MarkedText decode_manifest(core::ByteView bytes);

}  // namespace coldtrace::tracefile
