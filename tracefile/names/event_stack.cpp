#include "coldtrace/tracefile/names/event_stack.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u8 stack_group = 0x18;
constexpr u8 stack_key_kernel = 37;
constexpr u8 stack_key_user = 38;
constexpr std::size_t fixed_part = 16;  // time, process and thread

u64 load_address(core::ByteView payload, std::size_t at, std::size_t width) {
  return width == 8 ? *core::load<u64>(payload, at) : *core::load<u32>(payload, at);
}

}  // namespace

void find_stack(const Event& event, const StackTable& stacks, EventStack& stack) {
  stack.frames.clear();
  const bool of_kernel = event.opcode == stack_key_kernel;
  const bool defined_elsewhere =
      event.kernel_group == stack_group && (of_kernel || event.opcode == stack_key_user);
  if (event.extended.empty() && !defined_elsewhere) return;
  read_stack(event, stack);
  const std::size_t width = event.pointer_size;
  if (defined_elsewhere && event.payload.size() >= fixed_part + width)
    stack.keys.push_back(load_address(event.payload, fixed_part, width));
  const auto kernel = defined_elsewhere && width == 8 ? std::optional{of_kernel} : std::nullopt;
  for (const auto key : stack.keys)
    if (const auto frames = stacks.find({key, event.name_time(), kernel}))
      stack.frames.insert(stack.frames.end(), frames->begin(), frames->end());
}

void read_stack_walk(const Event& event, EventStack& stack) {
  stack.frames.clear();
  const std::size_t width = event.pointer_size;
  for (auto at = fixed_part; at + width <= event.payload.size(); at += width)
    stack.frames.push_back(load_address(event.payload, at, width));
}

}  // namespace coldtrace::tracefile
