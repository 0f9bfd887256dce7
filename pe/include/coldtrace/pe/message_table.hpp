#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// The encoding of a message.
enum class MessageEncoding : u8 { ansi, utf16, utf8 };

// A text of a message table, as stored.
struct Message {
  u32 id;
  MessageEncoding encoding;
  core::ByteView bytes;  // up to its first NUL
};

// Valid UTF-8. For ANSI text, whose code page is not in the file, only ASCII is kept.
[[nodiscard]] std::string to_text(const Message& message);

// MESSAGE_RESOURCE_DATA: the messages of a resource of type 11 at `offset` of the file, in the
// order of its blocks. Source: Windows SDK, MESSAGE_RESOURCE_BLOCK and _ENTRY. A damaged block is a
// finding; no byte of the file is counted for two messages.
[[nodiscard]] std::vector<Message> read_message_table(core::ByteView bytes, u64 offset,
                                                      core::Findings& findings);

}  // namespace coldtrace::pe
