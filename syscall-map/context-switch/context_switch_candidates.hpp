#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "syscall-map/code/kernel_code.hpp"
#include "syscall-map/context-switch/stack_exchange.hpp"

namespace coldtrace::syscall_map {

// A place that might be the context switch, before it is looked at.
struct SwitchCandidate {
  bool symbol = false;       // a symbol names it
  bool signature = false;    // a signature matches
  bool verified = false;     // one that was seen in a real kernel
  bool published = false;    // a publication names the address
  bool enlightened = false;  // what named it calls it EnlightenedSwapContext
  std::vector<std::string> evidence;
  std::vector<StackExchange> exchanges;  // in the function; more than one only where they overlap
};

using SwitchCandidates = std::map<pe::Rva, SwitchCandidate>;

// Places that symbols, publications and signatures name. Those of publications count only when
// structure confirms them.
SwitchCandidates name_candidates(const KernelCode& code, const std::vector<NamedPlace>& symbols,
                                 core::Findings& findings, std::vector<std::string>& reasons);

}  // namespace coldtrace::syscall_map
