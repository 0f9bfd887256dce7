#pragma once

#include <functional>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// The bytes of a file at any offset; fewer at its end, none if they cannot be read.
using ReadAt = std::function<std::vector<std::byte>(u64 offset, u64 length)>;
// As ImageSource::next_data().
using NextData = std::function<u64(u64 offset)>;

// Whether a page starts with a record of a change journal.
bool is_usn_record(ByteView page);

// Whether a file that starts with zeros is a copy of a change journal, $UsnJrnl:$J, whose old pages
// are empty. At most a few thousand pages are read.
bool holds_usn_journal(u64 size, const ReadAt& read, const NextData& next_data);

}  // namespace coldtrace::core
