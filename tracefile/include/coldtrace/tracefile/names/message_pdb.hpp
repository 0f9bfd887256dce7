#pragma once

#include <optional>
#include <string>

#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// A PDB with the texts of a WPP provider's messages.
struct MessagePdb {
  std::string name;  // of the file, without folders: valid UTF-8
  core::Guid guid;
  u32 age = 0;
  friend auto operator<=>(const MessagePdb&, const MessagePdb&) = default;
};

// The one that an event names: each WPP provider that logs does so once (DbgIdRSDS). Nothing for
// other events. Source: facts from real files, as in kernel_event_table.inc.
[[nodiscard]] std::optional<MessagePdb> find_message_pdb(const Event& event);

}  // namespace coldtrace::tracefile
