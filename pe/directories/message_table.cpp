#include "coldtrace/pe/message_table.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::pe {
namespace {

// A hundred times what the largest message tables of Windows have.
constexpr std::size_t most_messages = 500'000;

struct Block {
  u32 low, high, start;
};

// Appends the block's messages. `budget` is what is left of the resource's bytes.
void read_block(const Block& block, core::ByteView bytes, u64 offset, u64& budget,
                std::vector<Message>& messages, core::Findings& findings) {
  u64 at = block.start;
  for (u64 id = block.low; id <= block.high; ++id) {
    constexpr u64 header_size = 4;
    const auto length = core::load<u16>(bytes, at).value_or(0);
    const auto flags = core::load<u16>(bytes, at + 2).value_or(0);
    if (messages.size() == most_messages) {
      findings.warning("message-count", offset + at, "more than {} messages", most_messages);
      return;
    }
    const auto entry = core::slice(bytes, at, length);
    if (!entry || length < header_size || length > budget || flags > 2) {
      findings.warning("message-entry", offset + at,
                       "message {:#x} has {} with flags {:#x}; {} of {} messages are read", id,
                       core::counted(length, "byte", "bytes"), flags, id - block.low,
                       u64{block.high} - block.low + 1);
      return;
    }
    budget -= length;
    at += length;
    const auto encoding = static_cast<MessageEncoding>(flags);
    auto content = entry->subspan(header_size);
    if (encoding == MessageEncoding::utf16)
      content = core::until_nul_unit(content);
    else
      content = content.first(static_cast<std::size_t>(
          std::find(content.begin(), content.end(), std::byte{0}) - content.begin()));
    messages.push_back({static_cast<u32>(id), encoding, content});
  }
}

}  // namespace

std::string to_text(const Message& message) {
  if (message.encoding == MessageEncoding::utf16) return core::decode_utf16(message.bytes).utf8;
  return core::to_valid_utf8(core::to_chars(message.bytes));
}

std::vector<Message> read_message_table(core::ByteView bytes, u64 offset,
                                        core::Findings& findings) {
  std::vector<Message> messages;
  core::Reader in{bytes, "MESSAGE_RESOURCE_DATA", offset};
  const auto count = in.read_u32("NumberOfBlocks");
  u64 budget = bytes.size();
  for (u32 i = 0; i < count && in.ok(); ++i) {
    const auto at = in.offset();
    const Block block{in.read_u32("LowId"), in.read_u32("HighId"), in.read_u32("OffsetToEntries")};
    if (!in.ok()) break;
    if (block.low > block.high)
      findings.warning("message-block", at, "a message block from {:#x} to {:#x}", block.low,
                       block.high);
    else
      read_block(block, bytes, offset, budget, messages, findings);
  }
  if (!in.ok()) findings.warning("message-block", in.error());
  return messages;
}

}  // namespace coldtrace::pe
