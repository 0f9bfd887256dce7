#include "syscall-map/context-switch/patch_planner.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "syscall-map/context-switch/incoming_branches.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(PatchMethod method) {
  switch (method) {
    case PatchMethod::entry_jump:
      return "entry_jump";
    case PatchMethod::hot_patch:
      return "hot_patch";
    case PatchMethod::inner_jump:
      return "inner_jump";
    case PatchMethod::call_sites:
      return "call_sites";
  }
  return "unknown";
}

namespace {

constexpr u32 short_jump_size = 2;

// "entry+0x8"
std::string place(pe::Rva entry, pe::Rva rva) {
  if (rva == entry) return "the entry";
  if (rva < entry) return fmt::format("entry-{:#x}", value(entry) - value(rva));
  return fmt::format("entry+{:#x}", value(rva) - value(entry));
}

class Planner {
 public:
  Planner(const KernelCode& code, const Disassembler& disassembler, const FunctionBody& body,
          const PatchedFunction& function)
      : code_{code},
        disassembler_{disassembler},
        body_{body},
        function_{function},
        entry_{function.entry} {}

  PatchPlan plan() {
    add_instructions();
    auto incoming = find_incoming_branches(code_, disassembler_, body_, function_,
                                           std::max(decoded_, long_jump_size));
    plan_.incoming = std::move(incoming.branches);
    truncated_ = incoming.truncated;
    plan_.padding_before = padding_before();
    plan_.needs_writable_mapping = needs_writable_mapping();
    plan_.options.push_back(entry_jump());
    plan_.options.push_back(hot_patch());
    plan_.options.push_back(inner_jump());
    plan_.options.push_back(call_sites());
    add_notes();
    return std::move(plan_);
  }

 private:
  void add_instructions() {
    while (decoded_ < long_jump_size) {
      auto next = to_patched(entry_ + decoded_);
      if (!next) return;
      decoded_ += next->length;
      plan_.instructions.push_back(std::move(*next));
    }
  }

  std::optional<PatchedInstruction> to_patched(pe::Rva rva) const {
    const auto instruction = disassembler_.decode(rva);
    if (!instruction) return std::nullopt;
    PatchedInstruction patched;
    patched.rva = rva;
    patched.length = instruction->info.length;
    for (const auto byte : code_.image().bytes(rva, patched.length))
      patched.bytes.push_back(std::to_integer<u8>(byte));
    patched.text = disassembler_.text(*instruction);
    const auto flow = to_flow(disassembler_, *instruction);
    if (flow.target) {
      patched.relative_target = flow.target;
      patched.grows = flow.short_form;
    } else if ((instruction->info.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0) {
      for (u8 index = 0; index < instruction->info.operand_count; ++index)
        if (const auto address = disassembler_.address(*instruction, instruction->operands[index]))
          patched.relative_target = code_.image().rva_of_address(*address);
    }
    return patched;
  }

  // Bytes that fill the room between functions: instructions that do nothing, or zeros, of which
  // the first four may be the end of an instruction.
  u32 padding_before() const {
    constexpr u32 most = 64;
    constexpr u32 end_of_immediate = 4;
    const auto bytes = code_.bytes_before(entry_, most);
    const auto limit = static_cast<u32>(bytes.size());
    u32 zeros = 0;
    while (zeros < limit && bytes[limit - 1 - zeros] == std::byte{0}) ++zeros;
    if (zeros == limit) return zeros;
    // filler[n]: the n bytes before the entry are whole instructions that do nothing.
    std::array<bool, most + 1> filler{true};
    u32 longest = 0;
    for (u32 count = 1; count <= limit; ++count) {
      const auto instruction = disassembler_.decode(pe::Rva{value(entry_) - count});
      if (!instruction || instruction->info.length > count || !does_nothing(*instruction)) continue;
      filler[count] = filler[count - instruction->info.length];
      if (filler[count]) longest = count;
    }
    return std::max(longest, zeros > end_of_immediate ? zeros - end_of_immediate : 0);
  }

  // nop, int 3, mov edi, edi and lea esp, [esp+0] in their many lengths.
  static bool does_nothing(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.info.mnemonic) {
      case ZYDIS_MNEMONIC_NOP:
      case ZYDIS_MNEMONIC_INT3:
        return true;
      case ZYDIS_MNEMONIC_MOV:
        return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[0].reg.value == operands[1].reg.value;
      case ZYDIS_MNEMONIC_LEA:
        return operands[0].reg.value == operands[1].mem.base &&
               operands[1].mem.index == ZYDIS_REGISTER_NONE && operands[1].mem.disp.value == 0;
      default:
        return false;
    }
  }

  bool needs_writable_mapping() const {
    const auto& version = code_.version();
    return (version ? (*version)[0]
                    : code_.image().optional_header().major_operating_system_version) >= 5;
  }

  // Whole instructions of at least `size` bytes from the entry; 0 where they cannot be decoded.
  u32 whole(u32 size) const {
    u32 total = 0;
    for (const auto& instruction : plan_.instructions) {
      if (total >= size) break;
      total += instruction.length;
    }
    return total >= size ? total : 0;
  }

  // What is wrong with overwriting `overwritten` bytes from the entry on, of instructions of
  // `copied` bytes.
  std::vector<std::string> faults_at_entry(u32 copied) const {
    std::vector<std::string> faults;
    if (function_.self_patched)
      faults.push_back("Windows has put its own jump over the entry: what was there is unknown");
    if (copied == 0) {
      faults.push_back("the first instructions cannot be decoded");
      return faults;
    }
    u32 own = 0;
    for (const auto& branch : plan_.incoming) {
      if (branch.to == entry_ && !branch.outside) {
        if (++own == 1)
          faults.push_back(
              fmt::format("{} at {} leads back to the entry: the driver would be called once more "
                          "for each iteration",
                          branch.text, place(entry_, branch.from)));
      } else if (branch.to > entry_ && branch.to < entry_ + copied) {
        faults.push_back(fmt::format("{} at {} leads to {}, into the overwritten instructions",
                                     branch.text, where(branch), place(entry_, branch.to)));
      } else if (branch.outside && branch.to > entry_) {
        faults.push_back(bypass(branch));
      }
    }
    if (own > 1) faults.push_back(fmt::format("{} of its own branches lead back in this way", own));
    return faults;
  }

  std::string where(const IncomingBranch& branch) const {
    return branch.outside ? fmt::format("rva {:#x}", value(branch.from))
                          : place(entry_, branch.from);
  }

  std::string bypass(const IncomingBranch& branch) const {
    return fmt::format("{} at rva {:#x} enters at {} and bypasses the hook{}", branch.text,
                       value(branch.from), place(entry_, branch.to),
                       branch.proved ? "" : ", if these bytes are an instruction");
  }

  void add_rewrites(PatchOption& option, const std::vector<PatchedInstruction>& copied) const {
    for (const auto& instruction : copied) {
      if (!instruction.relative_target) continue;
      option.reasons.push_back(fmt::format(
          "the copy of {} must be rewritten to lead to rva {:#x}{}", instruction.text,
          value(*instruction.relative_target), instruction.grows ? ", in its longer form" : ""));
    }
  }

  std::vector<PatchedInstruction> first_instructions(u32 size) const {
    std::vector<PatchedInstruction> copied;
    u32 total = 0;
    for (const auto& instruction : plan_.instructions) {
      if (total >= size) break;
      total += instruction.length;
      copied.push_back(instruction);
    }
    return copied;
  }

  PatchOption entry_jump() const {
    PatchOption option;
    option.method = PatchMethod::entry_jump;
    option.sites = {entry_};
    option.written = long_jump_size;
    option.copied = whole(long_jump_size);
    option.reasons = faults_at_entry(option.copied);
    option.safe = option.reasons.empty();
    if (option.copied == long_jump_size)
      option.reasons.push_back("the first 5 bytes are whole instructions");
    else if (option.copied > 0)
      option.reasons.push_back(
          fmt::format("5 bytes end inside an instruction: {} must be copied", option.copied));
    if (option.safe)
      option.reasons.push_back(
          "no branch leads back to the entry or into the overwritten instructions, and none "
          "bypasses the entry");
    add_rewrites(option, first_instructions(long_jump_size));
    return option;
  }

  PatchOption hot_patch() const {
    PatchOption option;
    option.method = PatchMethod::hot_patch;
    if (value(entry_) >= long_jump_size)
      option.sites = {pe::Rva{value(entry_) - long_jump_size}, entry_};
    option.written = long_jump_size + short_jump_size;
    option.copied = whole(short_jump_size);
    option.reasons = faults_at_entry(option.copied);
    if (plan_.padding_before < long_jump_size)
      option.reasons.push_back(fmt::format(
          "there {} of padding before the entry, the long jump needs 5",
          plan_.padding_before == 1 ? std::string{"is 1 byte"}
                                    : fmt::format("are {} bytes", plan_.padding_before)));
    for (const auto& branch : plan_.incoming)
      if (branch.to < entry_)
        option.reasons.push_back(
            fmt::format("{} at {} leads into the padding", branch.text, where(branch)));
    option.safe = option.reasons.empty();
    if (plan_.padding_before >= long_jump_size)
      option.reasons.push_back(
          fmt::format("there are {} bytes of padding before the entry", plan_.padding_before));
    if (option.copied == short_jump_size)
      option.reasons.push_back("the short jump replaces exactly the first instruction");
    else if (option.copied > 0)
      option.reasons.push_back(
          fmt::format("the short jump takes 2 bytes of {} that must be copied", option.copied));
    add_rewrites(option, first_instructions(short_jump_size));
    return option;
  }

  // Bytes of whole instructions from `at` on that a jump can replace; nothing where one of them
  // is not a plain one.
  std::optional<u32> replaceable(pe::Rva at) const {
    u32 total = 0;
    while (total < long_jump_size) {
      const auto found = body_.instructions().find(at + total);
      if (found == body_.instructions().end() || found->second.kind != FlowInstruction::Kind::plain)
        return std::nullopt;
      total += found->second.length;
    }
    return total;
  }

  // Every way through the function passes `at` once, before the stack is switched: nothing jumps
  // over it from before or back over it from behind, and all other entries come before it.
  bool every_path_passes(pe::Rva at, u32 size) const {
    for (const auto& [from, flow] : body_.instructions()) {
      if (flow.kind == FlowInstruction::Kind::end && from < at && from >= entry_) return false;
      const bool branch = flow.kind == FlowInstruction::Kind::conditional ||
                          flow.kind == FlowInstruction::Kind::jump;
      if (!branch) continue;
      const bool before = from >= entry_ && from < at;
      if (!flow.target) {
        if (before) return false;
        continue;
      }
      const bool to_before = *flow.target >= entry_ && *flow.target <= at;
      if (before != to_before) return false;
      if (*flow.target > at && *flow.target < at + size) return false;
    }
    for (const auto& branch : plan_.incoming)
      if (branch.outside && branch.to > at) return false;
    return true;
  }

  PatchOption inner_jump() const {
    constexpr u32 farthest = 0x80;
    PatchOption option;
    option.method = PatchMethod::inner_jump;
    option.written = long_jump_size;
    const auto limit = function_.stack_switch.value_or(entry_ + farthest);
    for (auto found = body_.instructions().find(entry_);
         !function_.self_patched && found != body_.instructions().end() && found->first < limit;
         found = body_.instructions().find(found->first + found->second.length)) {
      const auto at = found->first;
      if (at == entry_) continue;
      const auto size = replaceable(at);
      const bool fewer = option.copied == 0 || (size && *size < option.copied);
      if (!size || !fewer || at + *size > limit || !every_path_passes(at, *size)) continue;
      option.sites = {at};
      option.copied = *size;
    }
    option.safe = !option.sites.empty();
    if (option.safe) {
      const auto at = option.sites.front();
      option.reasons.push_back(
          fmt::format("every path into the function and through it passes {} before the stack is "
                      "switched, and no branch leads into the {} bytes of whole instructions there",
                      place(entry_, at), option.copied));
      std::vector<PatchedInstruction> copied;
      for (u32 done = 0; done < option.copied; done += copied.back().length) {
        auto next = to_patched(at + done);
        if (!next) break;
        copied.push_back(std::move(*next));
      }
      add_rewrites(option, copied);
      return option;
    }
    option.reasons.push_back(
        function_.self_patched
            ? "the control flow from the entry reaches the place of Windows' own jump"
            : "there are no 5 bytes of whole instructions before the stack switch that every path "
              "through the function passes exactly once");
    return option;
  }

  PatchOption call_sites() const {
    PatchOption option;
    option.method = PatchMethod::call_sites;
    option.written = long_jump_size;
    for (const auto& caller : function_.callers) option.sites.push_back(caller.rva);
    if (option.sites.empty()) option.reasons.push_back("no direct call of the function is known");
    for (const auto& branch : plan_.incoming) {
      if (!branch.outside) continue;
      if (branch.to == entry_)
        option.reasons.push_back(fmt::format("{} at rva {:#x} reaches the entry without a call",
                                             branch.text, value(branch.from)));
      else if (branch.to > entry_)
        option.reasons.push_back(bypass(branch));
    }
    option.safe = option.reasons.empty();
    if (!option.sites.empty())
      option.reasons.push_back(
          fmt::format("{} calls of 5 bytes each, which nothing else can lead into; calls through "
                      "pointers would not be seen",
                      option.sites.size()));
    return option;
  }

  void add_notes() {
    if (plan_.needs_writable_mapping)
      plan_.notes.push_back(
          "the code is write-protected (Windows 2000 and later): write through a second, writable "
          "mapping of its pages");
    if (code_.is_x64())
      plan_.notes.push_back(
          "x64 Windows checks the code of its kernel (PatchGuard) and stops when it has changed: "
          "any patch works only if that check is off, as with a kernel debugger");
    if (truncated_)
      plan_.notes.push_back("not all branches into the function are listed: there are too many");
  }

  const KernelCode& code_;
  const Disassembler& disassembler_;
  const FunctionBody& body_;
  const PatchedFunction& function_;
  pe::Rva entry_;
  u32 decoded_ = 0;
  bool truncated_ = false;
  PatchPlan plan_;
};

}  // namespace

PatchPlan make_patch_plan(const KernelCode& code, const Disassembler& disassembler,
                          const FunctionBody& body, const PatchedFunction& function) {
  return Planner{code, disassembler, body, function}.plan();
}

}  // namespace coldtrace::syscall_map
