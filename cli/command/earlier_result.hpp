#pragma once

#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

bool is_own(core::FileKind kind);

// A .ctrace file is coldtrace's own format but still evidence, written by its recorder. Only
// commands that make traces replace one.
bool replaces_trace(const std::string& format);

// What is never a result: a program, a log, an image, a volume, packed files.
bool is_evidence(core::FileKind kind);

// Whether it contains no byte that text never has.
bool is_text(core::ByteView bytes);

// Whether `file`, which is of this kind, may be what an earlier run with this format wrote to an
// output named `name`, although its kind alone does not say so: packed results, tables, stores and
// Perfetto traces, judged by their first bytes.
bool is_earlier_result(const std::string& file, const std::string& name, core::FileKind kind,
                       const std::string& format);

}  // namespace coldtrace::cli
