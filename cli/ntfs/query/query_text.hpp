#pragma once

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::cli {

// A name that a query found, for people: its whole path, since its directories need not be in the
// answer. The same for an image and its snapshot.
void append_query_text(core::TextBuffer& out, ntfs::FileValues& values);

}  // namespace coldtrace::cli
