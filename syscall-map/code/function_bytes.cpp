#include "coldtrace/syscall-map/function_bytes.hpp"

#include <algorithm>

#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/code/relocated_size.hpp"

namespace coldtrace::syscall_map {
namespace {

// A jump further than this leads to another function, or to code that was moved out of the way.
constexpr u32 longest_function = 0x1000;

// The place and size of a field within its instruction.
struct Field {
  u32 offset;
  u32 size;
};

void blank(std::span<FunctionByte> bytes, const Field& field, Wildcard why) {
  for (u32 index = field.offset; index < field.offset + field.size && index < bytes.size(); ++index)
    if (bytes[index].wildcard == Wildcard::none) bytes[index].wildcard = why;
}

bool ends_flow(const Instruction& instruction) {
  const auto category = instruction.info.meta.category;
  const auto mnemonic = instruction.info.mnemonic;
  return category == ZYDIS_CATEGORY_RET || category == ZYDIS_CATEGORY_UNCOND_BR ||
         mnemonic == ZYDIS_MNEMONIC_INT3 || mnemonic == ZYDIS_MNEMONIC_UD2;
}

// Whether the instruction's displacement is an address, or an RVA as switch tables of x64 use it:
// with a base and an index.
bool displaces_to_address(const pe::Image& image, const Instruction& instruction, bool relocated) {
  const auto displacement = static_cast<u64>(instruction.info.raw.disp.value);
  for (u32 index = 0; index < instruction.info.operand_count; ++index) {
    const auto& operand = instruction.operands[index];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || !operand.mem.disp.has_displacement) continue;
    if (operand.mem.base == ZYDIS_REGISTER_RIP) return true;
    if (instruction.info.raw.disp.size != 32) continue;
    if (image.machine() == pe::Machine::amd64) {
      if (operand.mem.base != ZYDIS_REGISTER_NONE && operand.mem.index != ZYDIS_REGISTER_NONE &&
          displacement <= 0xffff'ffff &&
          image.find_section(pe::Rva{static_cast<u32>(displacement)}))
        return true;
    } else if (!relocated && image.rva_of_address(displacement & 0xffff'ffff)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view to_string(Wildcard wildcard) {
  switch (wildcard) {
    case Wildcard::none:
      return "none";
    case Wildcard::relocation:
      return "relocation";
    case Wildcard::branch:
      return "branch";
    case Wildcard::address:
      return "address";
    case Wildcard::differences:
      return "differences";
  }
  return "";
}

FunctionReader::End FunctionReader::find_end(pe::Rva start) const {
  const auto& ranges = tables_.functions();
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), start,
      [](pe::Rva rva, const pe::FunctionRange& range) { return rva < range.start; });
  if (image_.machine() == pe::Machine::amd64 && after != ranges.begin() &&
      start < std::prev(after)->end)
    return {std::prev(after)->end};
  const Disassembler disassembler{image_};
  auto at = start, furthest = start;
  while (value(at) - value(start) < longest_function) {
    const auto instruction = disassembler.decode(at);
    if (!instruction) return {at, false};
    at = instruction->end();
    const auto category = instruction->info.meta.category;
    const bool jumps = category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
    const auto target = jumps ? disassembler.branch_target(*instruction) : std::nullopt;
    if (target && *target > furthest && value(*target) - value(start) < longest_function)
      furthest = *target;
    if (ends_flow(*instruction) && at > furthest) break;
  }
  return {at};
}

FunctionBytes FunctionReader::read(pe::Rva start) const {
  FunctionBytes function;
  const auto [end, known] = find_end(start);
  const auto& relocations = tables_.relocations().entries;
  const Disassembler disassembler{image_};
  auto at = start;
  while (at < end) {
    const auto instruction = disassembler.decode(at);
    if (!instruction || function.bytes.size() + instruction->info.length > most_bytes)
      return function;
    const auto code = image_.bytes(at, instruction->info.length);
    for (const auto byte : code) function.bytes.push_back({std::to_integer<u8>(byte)});
    const auto bytes = std::span{function.bytes}.last(code.size());
    function.instructions.push_back(instruction->info.length);
    const auto relocation = std::lower_bound(
        relocations.begin(), relocations.end(), at,
        [](const pe::BaseRelocation& entry, pe::Rva rva) { return entry.address < rva; });
    for (auto it = relocation; it != relocations.end() && it->address < instruction->end(); ++it)
      blank(bytes, {value(it->address) - value(at), relocated_size(it->type)},
            Wildcard::relocation);
    const auto& raw = instruction->info.raw;
    for (const auto& immediate : raw.imm) {
      const Field field{immediate.offset, immediate.size / 8u};
      if (immediate.size == 0) continue;
      if (immediate.is_relative) {
        const auto target = disassembler.branch_target(*instruction);
        if (!target || *target < start || *target >= end) blank(bytes, field, Wildcard::branch);
      } else if (relocations.empty() && immediate.size == 32 &&
                 image_.machine() == pe::Machine::i386 &&
                 image_.rva_of_address(immediate.value.u & 0xffff'ffff)) {
        blank(bytes, field, Wildcard::address);
      }
    }
    if (raw.disp.size != 0 && displaces_to_address(image_, *instruction, !relocations.empty()))
      blank(bytes, {raw.disp.offset, raw.disp.size / 8u}, Wildcard::address);
    at = instruction->end();
  }
  function.whole = known;
  return function;
}

}  // namespace coldtrace::syscall_map
