#pragma once

#include <optional>
#include <string>

#include "tracefile/export/ctf_stream.hpp"

namespace coldtrace::trace_export {

// What the file `metadata` says: the layouts of all events, in the language of CTF 1.8 (TSDL).
// `start` is UTC of time 0 in nanoseconds since 1970; nothing: not known.
std::string ctf_metadata(const CtfStream::TraceId& id, std::optional<i64> start);

}  // namespace coldtrace::trace_export
