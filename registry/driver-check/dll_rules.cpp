#include <fmt/format.h>

#include "coldtrace/registry/hive/key.hpp"
#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {
namespace {

using core::Severity;

// Whether the DLLs are loaded. Source: MS Learn, "AppInit DLLs and Secure Boot"; Windows before
// Vista has no LoadAppInit_DLLs, and loads what is named.
bool is_loaded(const AppInit& view, const std::string& version) {
  if (view.load) return *view.load != 0;
  return version.empty() || version < "6.0";
}

std::string signing(const AppInit& view) {
  return view.require_signed.value_or(0) != 0 ? ", if it is signed" : ", signed or not";
}

// A DLL of 32-bit programs of a 64-bit Windows lies in SysWOW64.
WindowsPath dll_path(const AppInit& view, const std::string& name, const WindowsFolder& windows) {
  auto path = to_windows_path(name, PathUse::dll, windows);
  constexpr std::string_view system = "system32\\";
  if (view.wow64 && path.place == WindowsPath::Place::windows && path.path.starts_with(system))
    path.path = "syswow64\\" + path.path.substr(system.size());
  return path;
}

void check_view(const Checked& checked, const AppInit& view, Problems& problems) {
  const bool loaded = is_loaded(view, checked.configuration.windows_version);
  for (const auto& dll : view.dlls) {
    problems.add(
        {"appinit-dll", loaded ? Severity::warning : Severity::info, view.key, "AppInit_DLLs", dll,
         loaded ? fmt::format("{} is loaded into every {}program that uses user32.dll{}; not if "
                              "Secure Boot is on",
                              dll, view.wow64 ? "32-bit " : "", signing(view))
                : fmt::format("{} is named, but not loaded while LoadAppInit_DLLs is 0", dll),
         "Remove the name unless you know the DLL; if it makes programs fail, set LoadAppInit_DLLs "
         "to 0 first."});
    const auto path = dll_path(view, dll, checked.configuration.windows);
    if (checked.lacks(path))
      problems.add({"appinit-file-missing", Severity::warning, view.key, "AppInit_DLLs", dll,
                    fmt::format("the file is missing: {}", path.text()),
                    "Remove the name: whoever puts a file there has it loaded."});
  }
  if (view.dlls.empty() && view.load.value_or(0) != 0)
    problems.add(
        {"appinit-enabled", Severity::info, view.key, "LoadAppInit_DLLs",
         fmt::format("{}", *view.load),
         "AppInit_DLLs is enabled but names no DLL: an uninstalled program left it this way",
         "Set LoadAppInit_DLLs to 0."});
}

void check_directory(const KnownDlls& known, const char* value,
                     const std::optional<std::string>& folder, std::string_view usual,
                     const WindowsFolder& windows, Problems& problems) {
  if (!has_text(folder)) return;
  const auto path = to_windows_path(*folder, PathUse::driver, windows);
  if (path.place == WindowsPath::Place::windows && path.path == usual) return;
  problems.add(
      {"known-dlls-folder", Severity::warning, known.key, value, folder,
       fmt::format("KnownDLLs are taken from {}, not from %SystemRoot%\\{}", *folder, usual),
       "Restore the value: DLLs from another folder run in every process."});
}

}  // namespace

void check_app_init(const Checked& checked, Problems& problems) {
  for (const auto& view : checked.configuration.app_init) check_view(checked, view, problems);
}

void check_known_dlls(const Checked& checked, Problems& problems) {
  const auto& known = checked.configuration.known_dlls;
  for (const auto& name : known.excluded)
    problems.add({"known-dlls-excluded", Severity::warning, known.excluded_key,
                  "ExcludeFromKnownDlls", name,
                  fmt::format("{} is excluded from KnownDLLs: programs load a DLL of that name "
                              "from their own folder",
                              name),
                  "Remove the name unless a program is known to need it."});
  if (known.key.empty()) return;
  const auto& windows = checked.configuration.windows;
  check_directory(known, "DllDirectory", known.directory, "system32", windows, problems);
  check_directory(known, "DllDirectory32", known.directory_32, "syswow64", windows, problems);
  for (const auto& entry : known.entries) {
    if (entry.dll.find_first_of("\\/:") != entry.dll.npos) {
      problems.add({"known-dlls-folder", Severity::warning, known.key, entry.name, entry.dll,
                    "a KnownDLL must be a name, but this is a path", "Remove the value."});
      continue;
    }
    // Names with '_' are of emulators, which are there on some machines only.
    const WindowsPath path{WindowsPath::Place::windows, "system32\\" + lower(entry.dll)};
    if (!entry.name.starts_with('_') && checked.lacks(path))
      problems.add({"known-dlls-file-missing", Severity::warning, known.key, entry.name, entry.dll,
                    fmt::format("the file is missing: {}", path.text()),
                    "Restore the file from the same build of Windows, or remove the value if it is "
                    "not one of Windows' own."});
  }
}

}  // namespace coldtrace::registry
