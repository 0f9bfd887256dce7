#include "coldtrace/syscall-map/supported_interfaces.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace::syscall_map {
namespace {

struct KnownInterface {
  const char* name;
  const char* purpose;
  const char* note;
};

// Sources: Lorch and Smith, "The VTrace Tool", MSDN Magazine, October 2000, for
// KeSetSwapContextNotifyRoutine, its builds and IoRegisterFsRegistrationChange; Microsoft's driver
// documentation for Ps..., Cm... and Ob...; for the last three "Dynamic Tracing in Windows 10
// 19H1".
constexpr KnownInterface known[] = {
    {"KeSetSwapContextNotifyRoutine", "context switches",
     "use this instead of a patch of SwapContext; multiprocessor and checked builds of Windows NT "
     "and 2000 have it"},
    {"KeSetThreadSelectNotifyRoutine", "threads selected to run",
     "use this instead of a patch; where it is exported, it comes with the one before"},
    {"KeSetTimeUpdateNotifyRoutine", "clock ticks, with the thread that runs",
     "use this instead of a patch of the clock interrupt"},
    {"PsSetCreateProcessNotifyRoutine", "processes created and ended",
     "use this instead of a patch of NtCreateProcess"},
    {"PsSetCreateProcessNotifyRoutineEx", "processes created and ended, with command line",
     "use this instead of a patch; Windows Vista SP1 and later, the driver linked with "
     "/INTEGRITYCHECK"},
    {"PsSetCreateProcessNotifyRoutineEx2", "processes created and ended, those of subsystems too",
     "use this instead of a patch; Windows 10 1703 and later"},
    {"PsSetCreateThreadNotifyRoutine", "threads created and ended",
     "use this instead of a patch of NtCreateThread"},
    {"PsSetCreateThreadNotifyRoutineEx", "threads created and ended, also in their own context",
     "use this instead of a patch; Windows 10 and later"},
    {"PsSetLoadImageNotifyRoutine", "images mapped",
     "use this instead of a patch of NtMapViewOfSection"},
    {"PsSetLoadImageNotifyRoutineEx", "images mapped, those of other architectures too",
     "use this instead of a patch; Windows 10 1709 and later"},
    {"IoRegisterFsRegistrationChange", "file systems that come and go",
     "use this instead of a patch of NtCreateFile to find file systems; it does not report network "
     "ones"},
    {"CmRegisterCallback", "registry operations", "use this instead of a patch of registry calls"},
    {"CmRegisterCallbackEx", "registry operations, with an altitude",
     "use this instead of a patch of registry calls; Windows Vista and later"},
    {"ObRegisterCallbacks", "handles to processes and threads opened",
     "use this instead of a patch of NtOpenProcess; Windows Vista SP1 and later, the driver linked "
     "with /INTEGRITYCHECK"},
    {"KeSetSystemServiceCallback", "system calls entered and left, by name",
     "use this instead of a patch of the service table; Windows 10 1903 and later gives it only to "
     "TraceInitSystem, with a kernel debugger"},
    {"KeSetTracepoint", "any instruction of the kernel or a driver",
     "use this instead of a patch; Windows 10 1903 and later gives it only to TraceInitSystem, "
     "with a kernel debugger"},
    {"EtwRegisterEventCallback", "events of tracing sessions, in the kernel",
     "use this instead of a patch; Windows 10 1903 and later gives it only to TraceInitSystem, "
     "with a kernel debugger"},
};

constexpr std::string_view trace_module = "ext-win-ms-ntos-trace";
constexpr std::string_view trace_function = "TraceInitSystem";

bool is_trace_module(std::string_view name) {
  return core::equal_ignoring_case(name.substr(0, trace_module.size()), trace_module);
}

// The interface that a tracing module implements and the kernel imports, if it is there.
SupportedInterface find_trace_import(const pe::Image& image) {
  SupportedInterface found;
  found.name = trace_function;
  found.purpose = "dynamic tracing: the kernel hands its callbacks to a module of this name";
  found.note =
      "use this instead of a patch; the kernel imports it from ext-win-ms-ntos-trace-l1-1-0, which "
      "no released Windows maps to a module";
  core::Findings ignored;  // what is odd about the tables is told by "pe imports"
  auto modules = pe::read_imports(image, ignored);
  for (auto& module : pe::read_delay_imports(image, ignored)) modules.push_back(std::move(module));
  for (const auto& module : modules) {
    if (!is_trace_module(module.name)) continue;
    const bool named = std::any_of(
        module.functions.begin(), module.functions.end(),
        [](const pe::ImportedFunction& function) { return function.name == trace_function; });
    found.imported = true;
    if (!named) found.note = "the kernel imports the module, but not the function by its name";
  }
  return found;
}

}  // namespace

std::vector<SupportedInterface> find_supported_interfaces(const pe::ImageTables& tables,
                                                          core::Findings& findings) {
  const core::UnreadableNote note{tables.image().file(), findings};
  std::map<std::string_view, const pe::Export*> exports;
  for (const auto& entry : tables.exports().directory.exports)
    if (!entry.name.empty()) exports.emplace(entry.name, &entry);
  std::vector<SupportedInterface> interfaces;
  for (const auto& interface : known) {
    SupportedInterface found{interface.name, interface.purpose, false, false, {}, interface.note};
    if (const auto entry = exports.find(interface.name); entry != exports.end()) {
      found.exported = true;
      if (!entry->second->is_forwarder) found.rva = entry->second->address;
    }
    interfaces.push_back(std::move(found));
  }
  interfaces.push_back(find_trace_import(tables.image()));
  if (interfaces.front().exported)
    findings.info("context-switch-supported", std::nullopt,
                  "the kernel exports {}: use it instead of a patch", interfaces.front().name);
  return interfaces;
}

}  // namespace coldtrace::syscall_map
