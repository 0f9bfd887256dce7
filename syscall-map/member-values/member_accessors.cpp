#include "syscall-map/member-values/member_accessors.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/syscall-map/thread_offsets.hpp"
#include "syscall-map/code/accessor.hpp"

namespace coldtrace::syscall_map {
namespace {

// How an accessor comes to the structure that it reads.
enum class Route : u8 { argument, through_argument, current_thread, current_process };

struct Accessor {
  const char* name;
  Route route;
  const char* member;
  bool address = false;  // it returns where the member is
};

// Those that thread_offsets.cpp does not read. Source of what they return: Windows Research Kernel,
// ps/, ke/, io/, ex/, cache/ and se/; WDK documentation.
constexpr Accessor accessors[] = {
    {"CcGetFileObjectFromBcb", Route::through_argument, "_SHARED_CACHE_MAP.FileObject"},
    {"ExGetExclusiveWaiterCount", Route::argument, "_ERESOURCE.NumberOfExclusiveWaiters"},
    {"ExGetPreviousMode", Route::current_thread, "_KTHREAD.PreviousMode"},
    {"ExGetSharedWaiterCount", Route::argument, "_ERESOURCE.NumberOfSharedWaiters"},
    {"FsRtlNumberOfRunsInBaseMcb", Route::argument, "_BASE_MCB.PairCount"},
    {"IoGetDeviceToVerify", Route::argument, "_ETHREAD.DeviceToVerify"},
    {"IoGetTopLevelIrp", Route::current_thread, "_ETHREAD.TopLevelIrp"},
    {"KeGetPreviousMode", Route::current_thread, "_KTHREAD.PreviousMode"},
    {"KeQueryPriorityThread", Route::argument, "_KTHREAD.Priority"},
    {"KeReadStateEvent", Route::argument, "_KEVENT.Header.SignalState"},
    {"KeReadStateMutant", Route::argument, "_KMUTANT.Header.SignalState"},
    {"KeReadStateMutex", Route::argument, "_KMUTANT.Header.SignalState"},
    {"KeReadStateQueue", Route::argument, "_KQUEUE.Header.SignalState"},
    {"KeReadStateSemaphore", Route::argument, "_KSEMAPHORE.Header.SignalState"},
    {"KeReadStateTimer", Route::argument, "_KTIMER.Header.SignalState"},
    {"PsGetCurrentProcessWin32Process", Route::current_process, "_EPROCESS.Win32Process"},
    {"PsGetCurrentThreadPreviousMode", Route::current_thread, "_KTHREAD.PreviousMode"},
    {"PsGetCurrentThreadStackBase", Route::current_thread, "_KTHREAD.StackBase"},
    {"PsGetCurrentThreadStackLimit", Route::current_thread, "_KTHREAD.StackLimit"},
    {"PsGetCurrentThreadTeb", Route::current_thread, "_KTHREAD.Teb"},
    {"PsGetCurrentThreadWin32Thread", Route::current_thread, "_KTHREAD.Win32Thread"},
    {"PsGetJobLock", Route::argument, "_EJOB.JobLock", true},
    {"PsGetJobSessionId", Route::argument, "_EJOB.SessionId"},
    {"PsGetJobUIRestrictionsClass", Route::argument, "_EJOB.UIRestrictionsClass"},
    {"PsGetProcessCreateTimeQuadPart", Route::argument, "_EPROCESS.CreateTime"},
    {"PsGetProcessDebugPort", Route::argument, "_EPROCESS.DebugPort"},
    {"PsGetProcessDxgProcess", Route::argument, "_EPROCESS.DxgProcess"},
    {"PsGetProcessExitStatus", Route::argument, "_EPROCESS.ExitStatus"},
    {"PsGetProcessExitTime", Route::current_process, "_EPROCESS.ExitTime"},
    {"PsGetProcessJob", Route::argument, "_EPROCESS.Job"},
    {"PsGetProcessPeb", Route::argument, "_EPROCESS.Peb"},
    {"PsGetProcessPriorityClass", Route::argument, "_EPROCESS.PriorityClass"},
    {"PsGetProcessProtection", Route::argument, "_EPROCESS.Protection"},
    {"PsGetProcessSectionBaseAddress", Route::argument, "_EPROCESS.SectionBaseAddress"},
    {"PsGetProcessSecurityPort", Route::argument, "_EPROCESS.SecurityPort"},
    {"PsGetProcessWin32Process", Route::argument, "_EPROCESS.Win32Process"},
    {"PsGetProcessWin32WindowStation", Route::argument, "_EPROCESS.Win32WindowStation"},
    {"PsGetProcessWow64Process", Route::argument, "_EPROCESS.Wow64Process"},
    {"PsGetThreadExitStatus", Route::argument, "_ETHREAD.ExitStatus"},
    {"PsGetThreadFreezeCount", Route::argument, "_KTHREAD.FreezeCount"},
    {"PsGetThreadTeb", Route::argument, "_KTHREAD.Teb"},
    {"PsGetThreadWin32Thread", Route::argument, "_KTHREAD.Win32Thread"},
    {"RtlNumberGenericTableElements", Route::argument,
     "_RTL_GENERIC_TABLE.NumberGenericTableElements"},
    {"RtlNumberGenericTableElementsAvl", Route::argument,
     "_RTL_AVL_TABLE.NumberGenericTableElements"},
    {"SeTokenImpersonationLevel", Route::argument, "_TOKEN.ImpersonationLevel"},
    {"SeTokenType", Route::argument, "_TOKEN.TokenType"},
};

// Whether the way has the length of the route: the control region, at most one pointer from there
// to the processor block, the thread, the process.
bool fits(const Accessor& accessor, const AccessorValue& value) {
  const auto steps = value.way.size();
  const bool argument = value.start == AccessorValue::Start::argument;
  if (value.address != accessor.address) return false;
  switch (accessor.route) {
    case Route::argument:
      return argument && steps == 1;
    case Route::through_argument:
      return argument && steps == 2;
    case Route::current_thread:
      return !argument && (steps == 2 || steps == 3);
    case Route::current_process:
      return !argument && (steps == 3 || steps == 4);
  }
  return false;
}

std::string sentence_of(const Accessor& accessor, u32 offset) {
  const auto* const whose = accessor.route == Route::argument ? "its argument"
                            : accessor.route == Route::through_argument
                                ? "what its argument leads to"
                            : accessor.route == Route::current_thread ? "the current thread"
                                                                      : "the current process";
  return fmt::format("{} {} {} at {:#x}", accessor.name,
                     accessor.address ? "returns the address in" : "reads", whose, offset);
}

// Those that read one member at one offset.
struct Readers {
  std::set<pe::Rva> functions;  // two names of one function prove no more than one
  std::vector<std::string> sentences;
};

}  // namespace

std::vector<MemberAccess> read_member_accessors(const KernelView& kernel) {
  std::vector<MemberAccess> found;
  if (!Disassembler::supports(kernel.image().machine())) return found;
  for (const auto& field : find_thread_offsets(kernel).fields)
    found.push_back({fmt::format("{}.{}", field.structure, field.field), field.offset,
                     field.confidence, field.evidence});
  const Disassembler disassembler{kernel.image()};
  std::map<std::pair<std::string_view, u32>, Readers> members;
  for (const auto& accessor : accessors) {
    const auto rva = kernel.find_export(accessor.name);
    if (!rva || !kernel.image().is_executable(*rva)) continue;
    const auto value = read_accessor(kernel.image(), disassembler, *rva);
    if (!value || !fits(accessor, *value)) continue;
    const auto offset = value->way.back();
    auto& readers = members[{accessor.member, offset}];
    readers.functions.insert(*rva);
    readers.sentences.push_back(sentence_of(accessor, offset));
  }
  for (auto& [member, readers] : members)
    found.push_back({std::string{member.first}, member.second,
                     readers.functions.size() > 1 ? Confidence::medium : Confidence::low,
                     std::move(readers.sentences)});
  return found;
}

}  // namespace coldtrace::syscall_map
