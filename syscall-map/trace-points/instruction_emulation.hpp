#pragma once

#include "coldtrace/syscall-map/trace-points/trace_emulation.hpp"
#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {

// Used only inside this library.
TraceEmulation describe_emulation(const pe::Image& image, const Disassembler& disassembler,
                                  const Instruction& instruction);

}  // namespace coldtrace::syscall_map
