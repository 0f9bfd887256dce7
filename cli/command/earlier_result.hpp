#pragma once

#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

bool is_own(core::FileKind kind);

// A .ctrace file is coldtrace's own and evidence still: its recorder wrote it. Only what makes
// traces replaces one.
bool replaces_trace(const std::string& format);

// What no result is: a program, a log, an image, a volume, packed files.
bool is_evidence(core::FileKind kind);

// Whether no byte is one that no text has.
bool is_text(core::ByteView bytes);

// Whether `file`, which is of this kind, is what an earlier run of this format may have written to
// an output that was called `name`, though its kind alone does not tell: packed results, tables,
// stores and Perfetto's traces, by their first bytes.
bool is_earlier_result(const std::string& file, const std::string& name, core::FileKind kind,
                       const std::string& format);

}  // namespace coldtrace::cli
