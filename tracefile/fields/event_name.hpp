#pragma once

#include <string>
#include <string_view>

namespace coldtrace::tracefile {

// How a manifest event is named: "Task/Opcode", or what there is of the two. The prefix of
// predefined names ("win:Start") is left out, and so is the opcode Info, which every event has that
// has no other.
std::string event_name_of(std::string_view task, std::string_view opcode);

}  // namespace coldtrace::tracefile
