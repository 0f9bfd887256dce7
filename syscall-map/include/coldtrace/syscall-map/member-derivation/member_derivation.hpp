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

// A build whose types are known. Its sources must outlive it.
struct KnownBuild {
  const KernelView* kernel = nullptr;
  std::string name;                                // its name in sentences
  std::vector<NamedPlace> symbols;                 // of its symbol files
  std::span<const pe::SymbolFile* const> files{};  // of which the first with types is used
};

// The place of a member in another build, according to one place there.
struct InferredMember {
  std::string expression;  // "_EPROCESS.Token"
  u64 offset = 0;
  Confidence confidence = Confidence::low;
  std::string sentence;  // the instruction there, and the one with the known offset
};

// Finds the members that are requested by their offsets in `target`, a kernel for the same machine,
// x86, x64 or ARM64. An instruction of the known build uses a member if its base is a pointer to
// the structure that was passed as a documented argument, read from a pointer member, or obtained
// from the processor's control region. Functions of both builds are exports, services, those that
// `signatures` find at one place, and those that agreeing instructions of such functions call. In
// these, the displacement of the instruction with the same neighbours is the member's offset in
// `target`. An offset that fewer than two functions show is rejected; one that three show has
// medium confidence. Places that contradict each other are all given. Bit fields are not looked
// for: code may read any of their bytes.
std::vector<InferredMember> derive_members(std::span<const MemberRequest> requests,
                                           const KnownBuild& known, const KernelView& target,
                                           const std::vector<HookService>& target_services,
                                           std::span<const Signature> signatures,
                                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
