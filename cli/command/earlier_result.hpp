#pragma once

#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

bool is_own(core::FileKind kind);

// A .ctrace file has coldtrace's own format, but may be evidence from its recorder: only formats
// that write traces may replace one.
bool replaces_trace(const std::string& format);

// Kinds that a result never is: a program, a log, an image, a volume, packed files.
bool is_evidence(core::FileKind kind);

// Whether all bytes may occur in text.
bool is_text(core::ByteView bytes);

// Whether an earlier run with this format may have written `file`, which is of this kind, to an
// output named `name`, for results whose kind alone does not tell: packed results, tables, stores
// and Perfetto traces, by their first bytes.
bool is_earlier_result(const std::string& file, const std::string& name, core::FileKind kind,
                       const std::string& format);

}  // namespace coldtrace::cli
