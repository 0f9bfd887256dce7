#pragma once

#include <string>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/signatures/signature.hpp"
#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// A build of which the types are known. What it is made of outlives it.
struct KnownBuild {
  const KernelView* kernel = nullptr;
  std::string name;                                // what sentences call it
  std::vector<NamedPlace> symbols;                 // of its symbol files
  std::span<const pe::SymbolFile* const> files{};  // of which the first with types counts
};

// Where a member lies in another build by one place there.
struct InferredMember {
  std::string expression;  // "_EPROCESS.Token"
  u64 offset = 0;
  Confidence confidence = Confidence::low;
  std::string sentence;  // the instruction there, and the one that has the known offset
};

// Where the members that are asked for by their offsets lie in `target`, a kernel of the same
// machine, x86, x64 or ARM64. An instruction of the known build that uses a member is one whose
// base is a pointer to the structure: one that was passed as a documented argument, read from a
// pointer member, or got from the processor's control region. In functions of both builds (exports,
// services, those that `signatures` find at one place, and what agreeing instructions of such
// call), the displacement of the instruction that
// has the same neighbours is the member's offset there. An offset that fewer than two functions
// have is none; one that three have has medium confidence. Places that contradict each other are
// all given. Bit fields are not looked for: code reads any byte of theirs.
std::vector<InferredMember> derive_members(std::span<const MemberRequest> requests,
                                           const KnownBuild& known, const KernelView& target,
                                           const std::vector<HookService>& target_services,
                                           std::span<const Signature> signatures,
                                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
