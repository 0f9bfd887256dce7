#include "syscall-map/changed-code/change_reader.hpp"

#include "syscall-map/changed-code/dumped_code.hpp"
#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {
namespace {

// From the start of a function instructions are counted no farther.
constexpr u32 farthest_boundary = 0x4000;
// Jumps that lead to jumps.
constexpr int most_hops = 4;

}  // namespace

// Both readers behind one door.
class ChangeReader::Code {
 public:
  Code(const pe::Image& file, const pe::ModuleDump& module)
      : dump{module},
        machine{file.machine()},
        x86{module, file.machine() == pe::Machine::amd64},
        before{file} {}

  bool is_x86() const { return Disassembler::supports(machine); }
  bool is_known() const { return is_x86() || machine == pe::Machine::arm64; }
  CodeStep look(pe::Rva start, pe::Rva end) const {
    return is_x86() ? x86.look(start, end) : look_at_arm64(dump, start, end);
  }

  // The instruction of the file that the byte at `rva` belongs to.
  pe::Rva boundary(pe::Rva rva, std::optional<pe::Rva> function) const {
    if (machine == pe::Machine::arm64) return pe::Rva{value(rva) & ~u32{3}};
    if (!is_x86() || !function || *function > rva ||
        value(rva) - value(*function) > farthest_boundary)
      return rva;
    for (auto at = *function; at <= rva;) {
      const auto instruction = before.decode(at);
      if (!instruction) return rva;
      if (instruction->end() > rva) return at;
      at = instruction->end();
    }
    return rva;
  }

  // Whether the instruction of the file at `rva` has no effect: between functions, and at their
  // start where a patch may go. LEA and MOV of a register to itself are so, and zeros and INT3.
  bool is_padding(pe::Rva rva) const {
    const auto instruction = is_x86() ? before.decode(rva) : std::nullopt;
    if (!instruction) return false;
    const auto& first = instruction->operands[0];
    const auto& second = instruction->operands[1];
    switch (instruction->info.mnemonic) {
      case ZYDIS_MNEMONIC_NOP:
      case ZYDIS_MNEMONIC_INT3:
        return true;
      case ZYDIS_MNEMONIC_MOV:
        return first.type == ZYDIS_OPERAND_TYPE_REGISTER && second.type == first.type &&
               first.reg.value == second.reg.value;
      case ZYDIS_MNEMONIC_LEA:
        return second.mem.base == first.reg.value && second.mem.disp.value == 0 &&
               second.mem.index == ZYDIS_REGISTER_NONE;
      case ZYDIS_MNEMONIC_ADD:
        return instruction->info.length == 2 && instruction->info.opcode == 0 &&
               instruction->info.raw.modrm.mod == 0 && instruction->info.raw.modrm.reg == 0 &&
               instruction->info.raw.modrm.rm == 0;
      default:
        return false;
    }
  }

  const pe::ModuleDump& dump;
  pe::Machine machine;
  DumpedX86 x86;
  Disassembler before;
};

ChangeReader::ChangeReader(const pe::Image& file, const pe::ModuleDump& dump)
    : file_{file}, code_{std::make_unique<Code>(file, dump)} {}

ChangeReader::~ChangeReader() = default;

ChangeMeaning ChangeReader::read(const pe::ByteChange& change,
                                 std::optional<pe::Rva> function) const {
  const auto rva = change.rva;
  ChangeMeaning meaning;
  meaning.start = rva;
  // Behind the bytes of a section, in its last page, too.
  if (!change.section || !file_.sections()[*change.section].executable()) return meaning;
  meaning.kind = ChangeKind::code;
  if (!code_->is_known()) return meaning;
  meaning.start = code_->boundary(rva, function);
  const auto end = rva + change.size;
  auto step = code_->look(meaning.start, end);
  // Padding does nothing, and may have a jump in the middle of a long instruction.
  if (step.kind == ChangeKind::code && meaning.start != rva && change.size > 1 &&
      code_->is_padding(meaning.start)) {
    const auto inner = code_->look(rva, end);
    if (inner.target || inner.kind == ChangeKind::breakpoint) {
      step = inner;
      meaning.start = rva;
    }
  }
  meaning.kind = step.kind;
  meaning.target = step.target;
  if (code_->is_x86()) meaning.instructions = code_->x86.disassemble(meaning.start, end);
  if (step.kind != ChangeKind::jump && step.kind != ChangeKind::call) return meaning;
  for (int hop = 0; hop < most_hops && meaning.target; ++hop) {
    const auto inside = code_->dump.rva_of_address(*meaning.target);
    if (!inside) break;
    const auto next = code_->look(*inside, *inside + 1);
    if (next.kind != ChangeKind::jump || !next.target) break;
    if (!meaning.via) meaning.via = meaning.target;
    meaning.target = next.target;
  }
  return meaning;
}

}  // namespace coldtrace::syscall_map
