#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "syscall-map/code/kernel_code.hpp"
#include "syscall-map/context-switch/stack_exchange.hpp"

namespace coldtrace::syscall_map {

// A place that might be the context switch, before it is examined.
struct SwitchCandidate {
  bool symbol = false;       // a symbol names it
  bool signature = false;    // a signature matches
  bool verified = false;     // one seen in a real kernel
  bool published = false;    // a publication names the address
  bool enlightened = false;  // named EnlightenedSwapContext
  std::vector<std::string> evidence;
  std::vector<StackExchange> exchanges;  // in the function; more than one only if they overlap
};

using SwitchCandidates = std::map<pe::Rva, SwitchCandidate>;

// Places that symbols, publications and signatures name. Those of publications count only if the
// structure confirms them.
SwitchCandidates name_candidates(const KernelCode& code, const std::vector<NamedPlace>& symbols,
                                 core::Findings& findings, std::vector<std::string>& reasons);

}  // namespace coldtrace::syscall_map
