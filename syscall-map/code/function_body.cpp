#include "syscall-map/code/function_body.hpp"

#include <vector>

namespace coldtrace::syscall_map {

FlowInstruction to_flow(const Disassembler& disassembler, const Instruction& instruction) {
  FlowInstruction flow;
  flow.length = instruction.info.length;
  flow.short_form = instruction.info.raw.imm[0].size == 8;
  flow.target = disassembler.branch_target(instruction);
  switch (instruction.info.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      flow.kind = FlowInstruction::Kind::call;
      break;
    case ZYDIS_CATEGORY_COND_BR:
      flow.kind = FlowInstruction::Kind::conditional;
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      flow.kind = FlowInstruction::Kind::jump;
      break;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
      flow.kind = FlowInstruction::Kind::end;
      break;
    default:
      if (instruction.info.mnemonic == ZYDIS_MNEMONIC_INT3 ||
          instruction.info.mnemonic == ZYDIS_MNEMONIC_UD2 ||
          instruction.info.mnemonic == ZYDIS_MNEMONIC_HLT)
        flow.kind = FlowInstruction::Kind::end;
  }
  return flow;
}

FunctionBody::FunctionBody(const KernelCode& code, const Disassembler& disassembler, pe::Rva entry)
    : end_{entry} {
  const auto home = code.function_at(entry);
  std::vector<pe::Rva> waiting{entry};
  while (!waiting.empty() && instructions_.size() < limit) {
    auto at = waiting.back();
    waiting.pop_back();
    while (instructions_.size() < limit && !instructions_.contains(at)) {
      if (code.bytes(at, 1).empty()) break;
      const auto instruction = disassembler.decode(at);
      if (!instruction) break;
      const auto flow = to_flow(disassembler, *instruction);
      instructions_.emplace(at, flow);
      const bool branches = flow.kind == FlowInstruction::Kind::conditional ||
                            flow.kind == FlowInstruction::Kind::jump;
      if (branches && flow.target) {
        const auto target = *flow.target;
        const bool elsewhere =
            target != entry && (code.is_export(target) || code.starts_function(target));
        if (!elsewhere && !instructions_.contains(target)) waiting.push_back(target);
      }
      if (flow.kind == FlowInstruction::Kind::jump || flow.kind == FlowInstruction::Kind::end)
        break;
      at = at + flow.length;
    }
  }
  for (auto found = instructions_.find(end_); found != instructions_.end();
       found = instructions_.find(end_))
    end_ = end_ + found->second.length;
  if (home && home->start <= entry && end_ < home->end) end_ = home->end;
}

}  // namespace coldtrace::syscall_map
