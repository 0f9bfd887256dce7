#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {

// The heart of a context switch: the stack pointer is saved in the old thread (edi, rdi) and
// loaded from the new one (esi, rsi), at the same offset of KTHREAD.
struct StackExchange {
  pe::Rva save{};  // mov [edi+KK], esp
  pe::Rva load{};  // mov esp, [esi+KK]
  u8 offset = 0;   // of KTHREAD.KernelStack
};

// All of them, ascending by `save`.
std::vector<StackExchange> find_stack_exchanges(const KernelCode& code, core::Findings& findings);

// The registers that a context switch handles, as seen in the bytes near a stack exchange.
struct SwitchTraits {
  std::optional<pe::Rva> reads_cr0;
  std::optional<pe::Rva> writes_cr3;
  std::optional<pe::Rva> prefetches;       // prefetchw
  std::optional<pe::Rva> reads_timestamp;  // rdtsc
};

// Searches the function from `entry` to `end` or, without an end, near the exchange.
SwitchTraits find_traits(const KernelCode& code, pe::Rva entry, std::optional<pe::Rva> end,
                         const StackExchange& exchange);

}  // namespace coldtrace::syscall_map
