#pragma once

#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/trace-points/trace_emulation.hpp"

namespace coldtrace::syscall_map {

// Used inside this library alone.
TraceEmulation describe_emulation(const pe::Image& image, const Disassembler& disassembler,
                                  const Instruction& instruction);

}  // namespace coldtrace::syscall_map
