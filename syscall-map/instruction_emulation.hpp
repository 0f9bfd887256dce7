#pragma once

#include "syscall-map/disassembly.hpp"
#include "syscall-map/trace_emulation.hpp"

namespace coldtrace::syscall_map {

// Used inside this library alone.
TraceEmulation describe_emulation(const pe::Image& image, const Disassembler& disassembler,
                                  const Instruction& instruction);

}  // namespace coldtrace::syscall_map
