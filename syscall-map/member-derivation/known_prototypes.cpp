#include "syscall-map/member-derivation/known_prototypes.hpp"

#include <algorithm>
#include <iterator>

namespace coldtrace::syscall_map {
namespace {

// Sources: Windows Driver Kit, ntddk.h, ntifs.h and wdm.h; Windows Research Kernel, ps.h, ke.h and
// se.h; System Informer's phnt, ntpsapi.h of the kernel.
struct Row {
  std::string_view name;
  u32 argument;
  std::string_view structure;
  bool family = false;  // all whose names begin so
};
constexpr Row arguments[] = {
    {"IoCancelIrp", 0, "_IRP"},
    {"IoFreeIrp", 0, "_IRP"},
    {"IoGetRequestorProcess", 0, "_IRP"},
    {"IoGetRequestorProcessId", 0, "_IRP"},
    {"IoGetRequestorSessionId", 0, "_IRP"},
    {"IoIsOperationSynchronous", 0, "_IRP"},
    {"IoThreadToProcess", 0, "_ETHREAD"},
    {"KeAlertThread", 0, "_KTHREAD"},
    {"KeAttachProcess", 0, "_KPROCESS"},
    {"KeBoostPriorityThread", 0, "_KTHREAD"},
    {"KeClearEvent", 0, "_KEVENT"},
    {"KeInitializeApc", 1, "_KTHREAD"},
    {"KeQueryBasePriorityThread", 0, "_KTHREAD"},
    {"KeQueryPriorityThread", 0, "_KTHREAD"},
    {"KeQueryRuntimeThread", 0, "_KTHREAD"},
    {"KeReadStateEvent", 0, "_KEVENT"},
    {"KeResetEvent", 0, "_KEVENT"},
    {"KeSetAffinityThread", 0, "_KTHREAD"},
    {"KeSetBasePriorityThread", 0, "_KTHREAD"},
    {"KeSetEvent", 0, "_KEVENT"},
    {"KeSetIdealProcessorThread", 0, "_KTHREAD"},
    {"KeSetPriorityThread", 0, "_KTHREAD"},
    {"KeStackAttachProcess", 0, "_KPROCESS"},
    {"PsAcquireProcessExitSynchronization", 0, "_EPROCESS"},
    {"PsAssignImpersonationToken", 0, "_ETHREAD"},
    {"PsChargePoolQuota", 0, "_EPROCESS"},
    {"PsChargeProcess", 0, "_EPROCESS", true},
    {"PsDisableImpersonation", 0, "_ETHREAD"},
    {"PsGetContextThread", 0, "_ETHREAD"},
    {"PsGetJob", 0, "_EJOB", true},
    {"PsGetProcess", 0, "_EPROCESS", true},
    {"PsGetThread", 0, "_ETHREAD", true},
    {"PsImpersonateClient", 0, "_ETHREAD"},
    {"PsIsProcessAppContainer", 0, "_EPROCESS"},
    {"PsIsProcessBeingDebugged", 0, "_EPROCESS"},
    {"PsIsProtectedProcess", 0, "_EPROCESS"},
    {"PsIsProtectedProcessLight", 0, "_EPROCESS"},
    {"PsIsSystemProcess", 0, "_EPROCESS"},
    {"PsIsSystemThread", 0, "_ETHREAD"},
    {"PsIsThreadImpersonating", 0, "_ETHREAD"},
    {"PsIsThreadTerminating", 0, "_ETHREAD"},
    {"PsReferenceImpersonationToken", 0, "_ETHREAD"},
    {"PsReferencePrimaryToken", 0, "_EPROCESS"},
    {"PsReleaseProcessExitSynchronization", 0, "_EPROCESS"},
    {"PsRestoreImpersonation", 0, "_ETHREAD"},
    {"PsResumeProcess", 0, "_EPROCESS"},
    {"PsReturnPoolQuota", 0, "_EPROCESS"},
    {"PsReturnProcess", 0, "_EPROCESS", true},
    {"PsSetContextThread", 0, "_ETHREAD"},
    {"PsSetJobUIRestrictionsClass", 0, "_EJOB"},
    {"PsSetProcess", 0, "_EPROCESS", true},
    {"PsSetThread", 0, "_ETHREAD", true},
    {"PsSuspendProcess", 0, "_EPROCESS"},
    {"SeQueryAuthenticationIdToken", 0, "_TOKEN"},
    {"SeQueryInformationToken", 0, "_TOKEN"},
    {"SeQuerySessionIdToken", 0, "_TOKEN"},
    {"SeTokenImpersonationLevel", 0, "_TOKEN"},
    {"SeTokenIsAdmin", 0, "_TOKEN"},
    {"SeTokenIsRestricted", 0, "_TOKEN"},
    {"SeTokenType", 0, "_TOKEN"},
};

struct Pointer {
  std::string_view name, structure;
};
constexpr Pointer results[] = {
    {"IoGetCurrentProcess", "_EPROCESS"},       {"IoGetRequestorProcess", "_EPROCESS"},
    {"IoThreadToProcess", "_EPROCESS"},         {"KeGetCurrentThread", "_KTHREAD"},
    {"PsGetCurrentProcess", "_EPROCESS"},       {"PsGetCurrentThread", "_ETHREAD"},
    {"PsGetCurrentThreadProcess", "_EPROCESS"}, {"PsGetThreadProcess", "_EPROCESS"},
    {"PsReferencePrimaryToken", "_TOKEN"},
};
constexpr Pointer variables[] = {
    {"PsIdleProcess", "_EPROCESS"},
    {"PsInitialSystemProcess", "_EPROCESS"},
};

// Sources: ntdef.h, wdm.h and ntddk.h; of _EX_FAST_REF the Windows Research Kernel, ex.h.
constexpr std::string_view structures[] = {
    "_CLIENT_ID",         "_EX_FAST_REF",       "_EX_RUNDOWN_REF", "_GUID",
    "_KSYSTEM_TIME",      "_LARGE_INTEGER",     "_LIST_ENTRY",     "_LUID",
    "_OBJECT_ATTRIBUTES", "_SINGLE_LIST_ENTRY", "_STRING",         "_ULARGE_INTEGER",
    "_UNICODE_STRING",
};

template <std::size_t Count>
std::string_view find(const Pointer (&rows)[Count], std::string_view name) {
  const auto* const row = std::ranges::find(rows, name, &Pointer::name);
  return row == std::end(rows) ? std::string_view{} : row->structure;
}

}  // namespace

std::optional<PrototypeArgument> known_argument(std::string_view function) {
  for (const auto& row : arguments)
    if (row.family ? function.starts_with(row.name) : function == row.name)
      return PrototypeArgument{row.argument, row.structure};
  return std::nullopt;
}

std::string_view known_result(std::string_view function) {
  return find(results, function);
}

std::string_view known_pointer(std::string_view variable) {
  return find(variables, variable);
}

bool is_documented_structure(std::string_view name) {
  return std::ranges::find(structures, name) != std::end(structures);
}

}  // namespace coldtrace::syscall_map
