#pragma once

#include <string>
#include <vector>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"
#include "syscall-map/stubs/entry_code.hpp"

namespace coldtrace::syscall_map {

// An exported address with the name of a service at which no stub could be read.
struct UnreadEntry {
  pe::Rva rva;
  std::vector<std::string> names;  // the service's name first
  EntryCode code;
};

// Gives unread entries their place in `map`: hooked stubs become services, with the number that the
// order of the surrounding stubs proves; so does NtQuerySystemTime, which has a number but no stub
// on x64; everything else is left out with a reason.
void resolve_unread(const pe::Image& image, const std::vector<UnreadEntry>& unread,
                    ServiceMap& map);

}  // namespace coldtrace::syscall_map
